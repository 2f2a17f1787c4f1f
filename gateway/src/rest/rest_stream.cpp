#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"
#include "rest/sample_stream.hpp"

#include <charconv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace telegate {
namespace {

constexpr std::array<std::string_view, 1> gives_events{"text/event-stream"};
constexpr std::array stream_parameters{
    RestParameter{.name = "prefix",
                  .schema = R"({"type":"array","maxItems":16,"items":{"type":"string","maxLength":256}})",
                  .meaning = "Only topics that begin with this prefix; may be given up to 16 times."},
    RestParameter{
        .name = "format", .schema = R"({"type":"string","enum":["json"]})", .meaning = "Format of the samples."},
    RestParameter{.name = "Last-Event-ID",
                  .place = RestParameter::Place::header,
                  .schema = R"({"type":"string","pattern":"^[0-9]{1,15}-[0-9]{1,15}$"})",
                  .meaning = "Id of the last event that the client received: the stream continues after it."},
};

/// Parses "EPOCH-POSITION".
std::optional<StreamPosition> to_position(std::string_view id) {
    StreamPosition result;
    const char* const end = id.data() + id.size();
    const auto epoch = std::from_chars(id.data(), end, result.epoch_ms);
    if (epoch.ec != std::errc() || epoch.ptr == end || *epoch.ptr != '-') {
        return std::nullopt;
    }
    const auto position = std::from_chars(epoch.ptr + 1, end, result.position);
    return position.ec == std::errc() && position.ptr == end ? std::optional(result) : std::nullopt;
}

/// Returns a stream that continues where the client was; null, after adding a fault, if the id is impossible.
std::shared_ptr<SampleStream> begin_stream(const RestCall& call, ParameterReader& reader,
                                           std::vector<std::string> prefixes) {
    SampleText& text = *call.handlers.sample_text;
    const SampleSources sources{*call.handlers.history, text, call.handlers.log_history};
    const std::string_view id = call.request.field ? call.request.field("Last-Event-ID") : std::string_view();
    const std::optional<StreamPosition> last = to_position(id);
    const std::uint64_t now = sources.history.position();
    const bool same_epoch = last && last->epoch_ms == text.epoch_ms();
    if ((!id.empty() && !last) || (same_epoch && last->position >= now)) {
        reader.fault("Last-Event-ID",
                     quoted_text(id) + " is not an id of this stream: must be the id of a received event, or absent");
        return nullptr;
    }
    const StreamPosition next =
        last ? StreamPosition{last->epoch_ms, last->position + 1} : StreamPosition{text.epoch_ms(), now};
    SampleStream::Hooks hooks{call.handlers.published_from, [streams = call.handlers.streams] {
                                  streams->wake();
                              }};
    return std::make_shared<SampleStream>(sources, std::move(prefixes), next, std::move(hooks));
}

HttpResponse get_stream(const RestCall& call) {
    ParameterReader reader(call);
    const auto wanted = reader.texts("prefix", SampleStream::prefixes_max, prefix_characters_max);
    const std::string_view format = reader.text("format", prefix_characters_max);
    if (call.query.has("format") && format != "json") {
        reader.fault("format", quoted_text(format) + " is not an available format: must be json");
    }
    const auto stream = begin_stream(call, reader, std::vector<std::string>(wanted.begin(), wanted.end()));
    if (reader.failed()) {
        return reader.refusal();
    }
    HttpResponse response{200, std::string(call.media_type), "", {}};
    if (!call.is_head()) {
        response.stream = [stream, streams = call.handlers.streams, place = call.handlers.streams->open()](
                              std::string& out, std::size_t bytes_max) {
            const bool ends = streams->is_ending();  // read first: no samples follow the ones that are read afterwards
            return stream->pull(out, bytes_max, ends);
        };
    }
    return response;
}

constexpr std::array stream_route_table{
    RestRoute{.path = "/stream",
              .summary = "Published samples as server-sent events.",
              .parameters = stream_parameters,
              .gives = gives_events,
              .refusals = {503},
              .answer = get_stream},
};

}  // namespace

constinit const std::span<const RestRoute> stream_routes = stream_route_table;

}  // namespace telegate
