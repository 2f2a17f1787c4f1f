#include "events/alarm_file.hpp"

#include "base/strict_json.hpp"
#include "state/saved_file.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <utility>

namespace telegate {
namespace {

using FileJson = nlohmann::ordered_json;

constexpr std::size_t alarms_depth_max = 5;

FileJson saved_json(const ChannelAlarm& alarm) {
    FileJson json{{"device", alarm.device},          {"channel", alarm.channel},
                  {"state", to_string(alarm.state)}, {"doubtful", alarm.quality != Quality::good},
                  {"since_ns", alarm.since_utc_ns},  {"value", alarm.value}};
    if (alarm.limit) {
        json["limit"] = *alarm.limit;
    }
    if (alarm.acknowledged) {
        json["acknowledged"] = {{"time_ns", alarm.acknowledged->time_utc_ns},
                                {"by", alarm.acknowledged->by},
                                {"comment", alarm.acknowledged->comment}};
    }
    return json;
}

/// Converts one saved alarm; nullopt if a value is invalid. Throws nlohmann::json::exception if a member is missing or
/// has the wrong type.
std::optional<ChannelAlarm> to_alarm(const FileJson& json) {
    const auto state = to_alarm_state(json.at("state").get<std::string>());
    if (!state) {
        return std::nullopt;
    }
    ChannelAlarm alarm{.device = json.at("device").get<std::string>(),
                       .channel = json.at("channel").get<std::string>(),
                       .state = *state,
                       .quality = json.at("doubtful").get<bool>() ? Quality::uncertain : Quality::good,
                       .value = json.at("value").get<double>(),
                       .since_utc_ns = json.at("since_ns").get<std::int64_t>()};
    if (alarm.since_utc_ns < 0) {
        return std::nullopt;
    }
    if (json.contains("limit") && !json.at("limit").is_null()) {
        alarm.limit = json.at("limit").get<double>();
    }
    if (json.contains("acknowledged")) {
        const FileJson& from = json.at("acknowledged");
        alarm.acknowledged = Acknowledgment{from.at("time_ns").get<std::int64_t>(), from.at("by").get<std::string>(),
                                            from.at("comment").get<std::string>()};
    }
    return alarm;
}

}  // namespace

std::string alarms_file_text(const SavedAlarms& saved) {
    std::string out = std::string("{\"version\":1,\"clean\":") + (saved.is_clean ? "true" : "false") + ",\"alarms\":[";
    for (const ChannelAlarm& alarm : saved.alarms) {
        out += out.back() == '[' ? "\n " : ",\n ";
        out += saved_json(alarm).dump(-1, ' ', false, FileJson::error_handler_t::replace);
    }
    return out + "\n]}\n";
}

std::variant<SavedAlarms, std::string> read_alarms(std::string_view text) {
    FileJson json;
    if (const auto fault = read_strict_json(text, {alarms_depth_max}, json)) {
        return fault->text();
    }
    if (!json.is_object()) {
        return "is not a JSON object";
    }
    SavedAlarms saved;
    try {
        if (json.at("version").get<int>() != 1) {
            return "unknown version: must be 1";
        }
        saved.is_clean = json.at("clean").get<bool>();
        for (const FileJson& each : json.at("alarms")) {
            auto alarm = to_alarm(each);
            if (!alarm) {
                return "alarm " + std::to_string(saved.alarms.size() + 1) +
                       " has an unknown state or a time before 1970";
            }
            saved.alarms.push_back(std::move(*alarm));
        }
    } catch (const FileJson::exception&) {
        return "alarm " + std::to_string(saved.alarms.size() + 1) + " or the header has a missing or invalid member";
    }
    return saved;
}

AlarmFile::AlarmFile(Alarms& alarms, Log& log, std::string path) : alarms_(alarms), log_(log), path_(std::move(path)) {
    if (auto saved = read_saved(log_, "alarm file", path_, alarms_bytes_max, read_alarms)) {
        alarms_.restore(std::move(saved->alarms), saved->is_clean);
    }
}

void AlarmFile::save(bool is_clean) {
    if (!path_.empty()) {
        write_saved(log_, "alarm file", path_, alarms_file_text({is_clean, alarms_.all()}));
    }
}

}  // namespace telegate
