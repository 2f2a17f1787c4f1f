#include "encode/time_text.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"
#include "status/status_parts.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <unordered_set>
#include <utility>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

constexpr RestParameter prefix_parameter{.name = "prefix",
                                         .schema = R"({"type":"string","maxLength":256})",
                                         .meaning = "Only topics that begin with this prefix."};
constexpr std::array prefix_only{prefix_parameter};
/// The body of GET /channels, created in pieces; a full channel table makes 20 MB of it. Threads: one at a time.
/// Limits: about the requested size per piece. Failure: std::bad_alloc.
class ChannelList {
  public:
    ChannelList(const RestHandlers& handlers, std::string prefix)
        : table_(handlers.sample_text->channels()), ledger_(*handlers.ledger), prefix_(std::move(prefix)) {
        for (std::string& name : handlers.devices()) {
            devices_.insert(std::move(name));
        }
    }

    /// Implements BodyPieces.
    bool operator()(std::string& out, std::size_t bytes_max) {
        if (next_ == 0) {
            out += "{\"channels\":[";
        }
        const std::size_t out_max = out.size() + bytes_max;
        for (; next_ < table_.size() && out.size() < out_max; ++next_) {
            add(static_cast<ChannelId>(next_), out);
        }
        if (next_ < table_.size()) {
            return true;
        }
        out += "],\"refused\":" + std::to_string(table_.refused()) + "}\n";
        return false;
    }

  private:
    void add(ChannelId id, std::string& out) {
        const ChannelInfo& info = table_.at(id);
        if (info.topic.starts_with(prefix_) && devices_.contains(info.device)) {
            const Json json{{"topic", info.topic},
                            {"device", info.device},
                            {"channel", info.channel},
                            {"unit", info.unit},
                            {"ledger", channel_ledger_json(ledger_.counts_of(id))}};
            out += std::exchange(is_first_, false) ? "" : ",";
            out += json.dump();
        }
    }

    const ChannelTable& table_;
    const Ledger& ledger_;
    std::string prefix_;
    std::unordered_set<std::string> devices_;
    std::size_t next_ = 0;
    bool is_first_ = true;
};

HttpResponse get_channels(const RestCall& call) {
    ParameterReader reader(call);
    const std::string_view wanted = reader.text("prefix", prefix_characters_max);
    if (reader.failed()) {
        return reader.refusal();
    }
    HttpResponse response{200, std::string(call.media_type), "", {}};
    response.pieces = ChannelList(call.handlers, std::string(wanted));
    return response;
}

HttpResponse get_latest(const RestCall& call) {
    ParameterReader reader(call);
    const std::string_view wanted = reader.text("prefix", prefix_characters_max);
    if (reader.failed()) {
        return reader.refusal();
    }
    const std::optional<StatusSnapshot> snapshot = call.handlers.snapshot();
    if (!snapshot) {
        return unavailable(call.request, "the gateway did not provide its samples in time");
    }
    const Json head{{"epoch", snapshot->epoch_ms}, {"time", to_iso8601(snapshot->time_utc_ns)}};
    std::string body = head.dump();
    body.back() = ',';
    body += "\"samples\":[";
    for (const ChannelStatus& channel : snapshot->channels) {
        if (channel.last.seq > 0 && channel.topic.starts_with(wanted)) {
            body += body.back() == '[' ? "" : ",";
            call.handlers.sample_text->append(body, channel.last);
        }
    }
    return {200, "application/json", body + "]}\n", {}};
}

constexpr std::array sample_route_table{
    RestRoute{.path = "/channels",
              .summary = "All channels with topic, unit and ledger.",
              .parameters = prefix_only,
              .gives = gives_json,
              .answer_schema = "Channels",
              .answer = get_channels},
    RestRoute{.path = "/samples/latest",
              .summary = "The latest sample of each channel.",
              .parameters = prefix_only,
              .gives = gives_json,
              .answer_schema = "LatestSamples",
              .refusals = may_be_late,
              .answer = get_latest},
};

}  // namespace

std::span<const RestRoute> sample_routes() noexcept {
    return sample_route_table;
}

}  // namespace telegate
