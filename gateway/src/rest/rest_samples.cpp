#include "encode/time_text.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"
#include "status/status_parts.hpp"

#include <string>
#include <unordered_set>
#include <utility>

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

void list_channel_info(JsonObject& out, const ChannelInfo& info, const ChannelLedgerCounts& counts) {
    out.name_schema("Channel");
    out.add("topic", info.topic);
    out.add("device", info.device);
    out.add("channel", info.channel);
    out.add("unit", info.unit);
    out.object("ledger", [&](JsonObject& ledger) { list_channel_ledger(ledger, counts); });
}

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

    /// Implements StreamPull.
    StreamState operator()(std::string& out, std::size_t bytes_max) {
        if (next_ == 0) {
            out += frame().substr(0, frame().find(']'));
        }
        const std::size_t out_max = out.size() + bytes_max;
        for (; next_ < table_.size() && out.size() < out_max; ++next_) {
            add(static_cast<ChannelId>(next_), out);
        }
        if (next_ < table_.size()) {
            return StreamState::more;
        }
        out += frame().substr(frame().find(']')) + '\n';
        return StreamState::ended;
    }

  private:
    /// Returns the body without channels.
    [[nodiscard]] std::string frame() const {
        return json_object_text([this](JsonObject& body) {
            list_all_channels(body, table_.refused(), [](std::string& channels) { channels += "[]"; });
        });
    }

    void add(ChannelId id, std::string& out) {
        const ChannelInfo& info = table_.at(id);
        if (info.topic.starts_with(prefix_) && devices_.contains(info.device)) {
            out += std::exchange(is_first_, false) ? "" : ",";
            JsonObject::write(out,
                              [&](JsonObject& channel) { list_channel_info(channel, info, ledger_.counts_of(id)); });
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

/// `write`: appends the samples.
template <class Write>
void list_latest(JsonObject& out, const StatusSnapshot& snapshot, const Write& write) {
    out.name_schema("LatestSamples");
    out.add("epoch", static_cast<std::uint64_t>(snapshot.epoch_ms));
    out.add("time", to_iso8601(snapshot.time_utc_ns));
    out.add_text("samples", schema_array(schema_reference("Sample")), write);
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
    const auto append_samples = [&](std::string& text) {
        text += '[';
        for (const ChannelStatus& channel : snapshot->channels) {
            if (channel.last.seq > 0 && channel.topic.starts_with(wanted)) {
                text += text.back() == '[' ? "" : ",";
                call.handlers.sample_text->append(text, channel.last);
            }
        }
        text += ']';
    };
    return json_response([&](JsonObject& out) { list_latest(out, *snapshot, append_samples); });
}

void describe_channels(JsonObject& out) {
    out.describe_object([](JsonObject& channel) { list_channel_info(channel, {}, {}); });
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
              .refusals = {503},
              .answer = get_latest},
};

}  // namespace

constinit const std::span<const RestRoute> sample_routes = sample_route_table;

}  // namespace telegate
