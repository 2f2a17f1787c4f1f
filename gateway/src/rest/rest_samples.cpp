#include "encode/time_text.hpp"
#include "line/sample_cursor.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"
#include "status/status_parts.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t samples_max = 10'000;  // per response: about 2 MB
constexpr std::size_t samples_default = 100;
constexpr std::size_t copied_at_once = 256;

constexpr std::array no_such_channel{404};
constexpr RestParameter prefix_parameter{.name = "prefix",
                                         .schema = R"({"type":"string","maxLength":256})",
                                         .meaning = "Only topics that begin with this prefix."};
constexpr std::array prefix_only{prefix_parameter};
constexpr std::array channel_parameters{
    RestParameter{.name = "device",
                  .place = RestParameter::Place::path,
                  .schema = R"({"type":"string","minLength":1})",
                  .meaning = "Device, as named in the settings."},
    RestParameter{.name = "channel",
                  .place = RestParameter::Place::path,
                  .schema = R"({"type":"string","minLength":1})",
                  .meaning = "Channel of the device."},
    RestParameter{
        .name = "since_seq",
        .schema = R"({"type":"integer","minimum":0,"maximum":9007199254740992})",
        .meaning = "Only samples with a greater sequence number, oldest first; without it, the newest samples."},
    RestParameter{.name = "limit",
                  .schema = R"({"type":"integer","minimum":1,"maximum":10000,"default":100})",
                  .meaning = "Maximum number of samples."},
};

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

/// Returns `"samples":[...]` with samples in the wire format.
template <class Samples>
std::string samples_text(SampleText& text, const Samples& samples) {
    std::string out = "\"samples\":[";
    for (const TelemetrySample& sample : samples) {
        out += out.back() == '[' ? "" : ",";
        text.append(out, sample);
    }
    return out + ']';
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
    std::vector<TelemetrySample> samples;
    for (const ChannelStatus& channel : snapshot->channels) {
        if (channel.last.seq > 0 && channel.topic.starts_with(wanted)) {
            samples.push_back(channel.last);
        }
    }
    const Json head{{"epoch", snapshot->epoch_ms}, {"time", to_iso8601(snapshot->time_utc_ns)}};
    std::string body = head.dump();
    body.back() = ',';
    return {200, "application/json", body + samples_text(*call.handlers.sample_text, samples) + "}\n", {}};
}

/// The selection of a channel's history that a request makes.
struct Wanted {
    ChannelId channel{};
    std::optional<std::uint64_t> since_seq;
    std::size_t limit = samples_default;
};
struct Found {
    std::deque<TelemetrySample> samples;
    bool more = false;  // there are newer samples
};

/// Adds a sample. Returns whether to continue.
bool take(Found& found, const Wanted& wanted, const TelemetrySample& sample) {
    if (sample.channel != wanted.channel || sample.seq <= wanted.since_seq.value_or(0)) {
        return true;
    }
    if (found.samples.size() < wanted.limit) {
        found.samples.push_back(sample);
        return true;
    }
    if (wanted.since_seq) {
        found.more = true;
        return false;
    }
    found.samples.pop_front();
    found.samples.push_back(sample);
    return true;
}

/// Reads only what the history contained at the beginning, so a fast writer cannot prolong the search indefinitely.
Found search(const History& history, const Wanted& wanted) {
    Found found;
    std::array<TelemetrySample, copied_at_once> copied;
    const std::uint64_t end = history.position();
    SampleCursor cursor(history, history.first());
    while (cursor.position() < end) {
        const SampleCursor::Read read = cursor.read(copied);
        for (const TelemetrySample& sample : std::span(copied).first(read.count)) {
            if (!take(found, wanted, sample)) {
                return found;
            }
        }
        cursor.advance(read.count);
    }
    return found;
}

std::optional<ChannelId> find_channel(const ChannelTable& table, std::string_view device, std::string_view channel) {
    for (std::size_t i = 0; i < table.size(); ++i) {
        const ChannelInfo& info = table.at(static_cast<ChannelId>(i));
        if (info.device == device && info.channel == channel) {
            return static_cast<ChannelId>(i);
        }
    }
    return std::nullopt;
}

Json gap_json(const Wanted& wanted, const Found& found) {
    if (!wanted.since_seq || found.samples.empty() || found.samples.front().seq == *wanted.since_seq + 1) {
        return nullptr;
    }
    return {{"first_seq", *wanted.since_seq + 1}, {"last_seq", found.samples.front().seq - 1}};
}

HttpResponse get_samples(const RestCall& call) {
    ParameterReader reader(call);
    Wanted wanted;
    wanted.since_seq = reader.number("since_seq", {0, 9'007'199'254'740'992});
    wanted.limit = static_cast<std::size_t>(reader.number("limit", {1, samples_max}).value_or(samples_default));
    if (reader.failed()) {
        return reader.refusal();
    }
    SampleText& text = *call.handlers.sample_text;
    const auto channel = find_channel(text.channels(), call.arguments[0], call.arguments[1]);
    if (!channel) {
        return refused(call.request, 404,
                       "there is no channel " + quoted_text(call.arguments[1]) + " of device " +
                           quoted_text(call.arguments[0]) + "; GET /channels lists them");
    }
    wanted.channel = *channel;
    const Found found = search(*call.handlers.history, wanted);
    const ChannelInfo& info = text.channels().at(*channel);
    const Json head{{"topic", info.topic},
                    {"unit", info.unit},
                    {"epoch", text.epoch_ms()},
                    {"gap", gap_json(wanted, found)},
                    {"more", found.more}};
    std::string body = head.dump();
    body.back() = ',';
    return {200, "application/json", body + samples_text(text, found.samples) + "}\n", {}};
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
    RestRoute{.path = "/samples/{device}/{channel}",
              .summary = "The samples of one channel in the history.",
              .parameters = channel_parameters,
              .gives = gives_json,
              .answer_schema = "ChannelSamples",
              .refusals = no_such_channel,
              .answer = get_samples},
};

}  // namespace

std::span<const RestRoute> sample_routes() noexcept {
    return sample_route_table;
}

}  // namespace telegate
