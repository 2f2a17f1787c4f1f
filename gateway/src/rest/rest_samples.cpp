#include "encode/json_encoder.hpp"
#include "encode/time_text.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"
#include "status/status_parts.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace telegate {
namespace {

constexpr RestParameter prefix_parameter{.name = "prefix",
                                         .schema = R"({"type":"string","maxLength":256})",
                                         .meaning = "Only topics that begin with this prefix."};
constexpr std::array prefix_only{prefix_parameter};

/// `write`: appends the channels.
template <class Write>
void list_all_channels(JsonObject& out, std::uint64_t refused, const Write& write) {
    out.name_schema("Channels");
    out.add_text("channels", schema_array(schema_reference("Channel")), write);
    out.add("refused", refused);
}

void list_channel_info(JsonObject& out, const ChannelInfo& info, const Tags& tags, const ChannelLedgerCounts& counts) {
    out.name_schema("Channel");
    out.add("topic", info.topic);
    out.add("device", info.device);
    out.add("channel", info.channel);
    out.add("unit", info.unit);
    out.add_text_if(!tags.empty(), "tags", schema_reference("Tags"),
                    [&](std::string& text) { text += json_tags(tags); });
    out.object("ledger", [&](JsonObject& ledger) { list_channel_ledger(ledger, counts); });
}

/// A body with an entry for each channel, created in pieces; a full channel table makes 20 MB of it. Threads: one at a
/// time. Limits: about the requested size per piece, and channels_per_piece_max channels. Failure: std::bad_alloc.
class ChannelPieces {
  public:
    /// `frame` returns the body with the empty list "[]"; `add` appends the entry of a channel that is shown.
    struct Parts {
        std::function<std::string()> frame;
        std::function<bool(ChannelId id, std::string& out)> add;
    };
    ChannelPieces(const ChannelTable& table, std::string prefix, Parts parts)
        : table_(table), prefix_(std::move(prefix)), parts_(std::move(parts)) {}

    /// Implements StreamPull.
    StreamState operator()(std::string& out, std::size_t bytes_max) {
        if (next_ == 0) {
            const std::string frame = parts_.frame();
            out += frame.substr(0, frame.find("[]") + 1);
        }
        const std::size_t out_max = out.size() + bytes_max;
        const std::size_t end = std::min(table_.size(), next_ + channels_per_piece_max);
        for (; next_ < end && out.size() < out_max; ++next_) {
            add(static_cast<ChannelId>(next_), out);
        }
        if (next_ < table_.size()) {
            return StreamState::more;
        }
        const std::string frame = parts_.frame();
        out += frame.substr(frame.find("[]") + 1) + '\n';
        return StreamState::ended;
    }

  private:
    static constexpr std::size_t channels_per_piece_max = 4'096;

    void add(ChannelId id, std::string& out) {
        if (table_.at(id).topic.starts_with(prefix_)) {
            const std::size_t before = out.size();
            out += is_first_ ? "" : ",";
            const bool is_shown = parts_.add(id, out);
            out.resize(is_shown ? out.size() : before);
            is_first_ = is_first_ && !is_shown;
        }
    }

    const ChannelTable& table_;
    std::string prefix_;
    Parts parts_;
    std::size_t next_ = 0;
    bool is_first_ = true;
};

/// Returns a response whose body is created in pieces.
HttpResponse channels_response(const RestCall& call, std::string_view prefix, ChannelPieces::Parts parts) {
    HttpResponse response{200, std::string(call.media_type), "", {}};
    response.pieces = ChannelPieces(call.handlers.sample_text->channels(), std::string(prefix), std::move(parts));
    return response;
}

HttpResponse get_channels(const RestCall& call) {
    ParameterReader reader(call);
    const std::string_view wanted = reader.text("prefix", prefix_characters_max);
    if (reader.failed()) {
        return reader.refusal();
    }
    const std::vector<std::string> names = call.handlers.devices();
    std::unordered_set<std::string> devices(names.begin(), names.end());
    const ChannelTable& table = call.handlers.sample_text->channels();
    const auto frame = [&table] {
        return json_object_text([&table](JsonObject& body) {
            list_all_channels(body, table.refused(), [](std::string& channels) { channels += "[]"; });
        });
    };
    const auto add = [&table, labels = call.handlers.sample_text->labels(), ledger = call.handlers.ledger,
                      devices = std::move(devices)](ChannelId id, std::string& out) {
        const ChannelInfo& info = table.at(id);
        if (!devices.contains(info.device)) {
            return false;
        }
        JsonObject::write(out, [&](JsonObject& channel) {
            list_channel_info(channel, info, tags_of(labels, info), ledger->counts_of(id));
        });
        return true;
    };
    return channels_response(call, wanted, {frame, add});
}

/// When a response was created.
struct LatestFrame {
    std::int64_t epoch_ms = 0;
    std::int64_t time_utc_ns = 0;
};

/// `write`: appends the samples.
template <class Write>
void list_latest(JsonObject& out, const LatestFrame& latest, const Write& write) {
    out.name_schema("LatestSamples");
    out.add("epoch", static_cast<std::uint64_t>(latest.epoch_ms));
    out.add("time", to_iso8601(latest.time_utc_ns));
    out.add_text("samples", schema_array(schema_reference("Sample")), write);
}

HttpResponse get_latest(const RestCall& call) {
    ParameterReader reader(call);
    const std::string_view wanted = reader.text("prefix", prefix_characters_max);
    if (reader.failed()) {
        return reader.refusal();
    }
    call.handlers.catch_up();
    SampleText& text = *call.handlers.sample_text;
    const auto frame = [latest = LatestFrame{text.epoch_ms(), SystemClock().utc_now_ns()}] {
        return json_object_text(
            [&latest](JsonObject& body) { list_latest(body, latest, [](std::string& samples) { samples += "[]"; }); });
    };
    const auto add = [&text, copy_last = call.handlers.copy_last](ChannelId id, std::string& out) {
        TelemetrySample last{};
        const bool has_sample = copy_last(id, last);
        if (has_sample) {
            text.append(out, last);
        }
        return has_sample;
    };
    return channels_response(call, wanted, {frame, add});
}

void describe_channels(JsonObject& out) {
    out.describe_object([](JsonObject& channel) { list_channel_info(channel, {}, {}, {}); });
    list_all_channels(out, 0, nullptr);
}

constexpr std::array sample_route_table{
    RestRoute{.path = "/channels",
              .summary = "All channels with topic, unit and ledger.",
              .parameters = prefix_only,
              .answer_members = describe_channels,
              .answer = get_channels},
    RestRoute{.path = "/samples/latest",
              .summary = "The latest sample of each channel.",
              .parameters = prefix_only,
              .answer_members = [](JsonObject& out) { list_latest(out, {}, nullptr); },
              .answer = get_latest},
};

}  // namespace

constinit const std::span<const RestRoute> sample_routes = sample_route_table;

}  // namespace telegate
