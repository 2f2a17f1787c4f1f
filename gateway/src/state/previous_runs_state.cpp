#include "state/previous_runs_state.hpp"

#include "base/strict_json.hpp"
#include "core/topic.hpp"
#include "store/segment_format.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace telegate {
namespace {

using SortedJson = nlohmann::json;

constexpr std::uint64_t seq_max = 9'007'199'254'740'992;
constexpr std::uint64_t epoch_max{store::epoch_ms_max};
constexpr std::size_t state_depth_max = 4;

/// Returns the line of the byte at which a parser stopped, such as "line 3".
std::string line_at(std::string_view text, std::size_t byte) {
    const std::string_view before = text.substr(0, byte);
    return "line " + std::to_string(1 + std::count(before.begin(), before.end(), '\n'));
}

/// Returns whether the member is a whole number from 1 to `max`.
bool is_whole(const SortedJson& json, const char* key, std::uint64_t max) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number_unsigned() && found->get<std::uint64_t>() >= 1 &&
           found->get<std::uint64_t>() <= max;
}

bool is_topic(std::string_view text) {
    const std::size_t slash = text.find('/');
    return slash != std::string_view::npos && is_topic_part(text.substr(0, slash)) &&
           is_topic_part(text.substr(slash + 1));
}

/// Returns what is wrong with the channels; "" if nothing is.
std::string take_channels(const SortedJson& channels, const std::string& place, PastEpoch& epoch) {
    if (!channels.is_object()) {
        return place + " is not an object";
    }
    for (const auto& [topic, seq] : channels.items()) {
        if (!is_topic(topic) || !seq.is_number_unsigned() || seq.get<std::uint64_t>() > seq_max) {
            return place + '/' + topic.substr(0, 80) + " is not a topic with a whole number";
        }
        epoch.last_seqs.emplace(topic, seq.get<std::uint64_t>());
    }
    return "";
}

struct LedgerCount {
    const char* key;
    std::uint64_t& count;
};

/// Returns the members of the object "ledger" in the file.
std::array<LedgerCount, 6> ledger_counts(LedgerCounts& counts) {
    static_assert(drop_reasons == 2);
    return {{{"sampled", counts.sampled},
             {"published", counts.published},
             {"filtered", counts.filtered},
             {"queued", counts.queued},
             {"dropped_queue_overflow", counts.dropped[0]},
             {"dropped_shutdown", counts.dropped[1]}}};
}

std::string ledger_text(EpochLedger ledger) {
    std::string text = ",\"ledger\":{\"time\":" + std::to_string(ledger.time_utc_ms);
    for (const auto& [key, count] : ledger_counts(ledger.counts)) {
        text += ",\"" + std::string(key) + "\":" + std::to_string(count);
    }
    return text + '}';
}

/// Returns what is wrong with the ledger; "" if nothing is.
std::string take_ledger(const SortedJson& json, const std::string& place, PastEpoch& epoch) {
    if (!json.is_object() || !is_whole(json, "time", epoch_max)) {
        return place + " is not an object with a time";
    }
    EpochLedger ledger;
    ledger.time_utc_ms = json["time"].get<std::int64_t>();
    for (const auto& [key, count] : ledger_counts(ledger.counts)) {
        const auto found = json.find(key);
        if (found == json.end() || !found->is_number_unsigned() || found->get<std::uint64_t>() > seq_max) {
            return place + '/' + key + " is not a whole number";
        }
        count = found->get<std::uint64_t>();
    }
    epoch.ledger = ledger;
    return "";
}

std::string take_epoch(const SortedJson& json, const std::string& place, std::vector<PastEpoch>& epochs) {
    if (!json.is_object() || !is_whole(json, "epoch", epoch_max) || !json.contains("ended") ||
        !json["ended"].is_boolean() || !json.contains("channels")) {
        return place + " is not an object with epoch, ended and channels";
    }
    PastEpoch epoch{json["epoch"].get<std::int64_t>(), json["ended"].get<bool>()};
    if (!epochs.empty() && epochs.back().epoch_ms >= epoch.epoch_ms) {
        return place + "/epoch is not later than the one before";
    }
    if (const auto published = json.find("published"); published != json.end()) {
        if (!published->is_number_unsigned() || published->get<std::uint64_t>() > seq_max) {
            return place + "/published is not a whole number";
        }
        epoch.published = published->get<std::uint64_t>();
    }
    std::string fault = take_channels(json["channels"], place + "/channels", epoch);
    if (const auto ledger = json.find("ledger"); fault.empty() && ledger != json.end()) {
        fault = take_ledger(*ledger, place + "/ledger", epoch);
    }
    epochs.push_back(std::move(epoch));
    return fault;
}

}  // namespace

std::string past_epochs_text(const std::vector<PastEpoch>& epochs) {
    std::size_t first = epochs.size() - std::min(epochs.size(), past_epochs_max);
    std::size_t channels = 0;
    for (std::size_t i = epochs.size(); i-- > first;) {
        channels += epochs[i].last_seqs.size();
        first = channels > past_channels_max ? std::max(first, i + 1) : first;
    }
    std::string out = "{\"version\":1,\"epochs\":[";
    for (std::size_t i = first; i < epochs.size(); ++i) {
        const PastEpoch& epoch = epochs[i];
        out += out.back() == '[' ? "\n" : ",\n";
        out += " {\"epoch\":" + std::to_string(epoch.epoch_ms) + ",\"ended\":" + (epoch.has_ended ? "true" : "false") +
               (epoch.published ? ",\"published\":" + std::to_string(*epoch.published) : "") +
               (epoch.ledger ? ledger_text(*epoch.ledger) : "") + ",\"channels\":{";
        for (const auto& [topic, seq] : epoch.last_seqs) {
            out += out.back() == '{' ? "\n  \"" : ",\n  \"";
            out += topic + "\":" + std::to_string(seq);
        }
        out += "}}";
    }
    return out + "\n]}\n";
}

std::variant<std::vector<PastEpoch>, std::string> read_past_epochs(std::string_view text) {
    std::vector<PastEpoch> epochs;
    SortedJson json;
    if (const auto fault = read_strict_json(text, {state_depth_max}, json)) {
        return fault->byte == 0 ? fault->text() : line_at(text, fault->byte) + ": is not JSON";
    }
    if (!json.is_object() || !is_whole(json, "version", 1) || !json.contains("epochs") || !json["epochs"].is_array()) {
        return "is not an object with version 1 and epochs";
    }
    if (json["epochs"].size() > past_epochs_max) {
        return "/epochs has too many entries: must be at most " + std::to_string(past_epochs_max);
    }
    for (std::size_t i = 0; i < json["epochs"].size(); ++i) {
        std::string fault = take_epoch(json["epochs"][i], "/epochs/" + std::to_string(i), epochs);
        if (!fault.empty()) {
            return fault;
        }
    }
    return epochs;
}

}  // namespace telegate
