#include "config/enum_names.hpp"
#include "config/section_problems.hpp"
#include "config/setting_rules.hpp"
#include "plan/plan_sections.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

namespace telegate {
namespace {

constexpr std::int64_t bytes_least = 1'048'576;
constexpr std::int64_t ns_per_ms = 1'000'000;

constexpr auto when_full = enum_names(
    rules::overflow_policies, {store::WhenFull::drop_oldest, store::WhenFull::drop_newest, store::WhenFull::block});

void check_bytes_max(std::int64_t bytes, std::string key, std::string setting, std::vector<SettingsProblem>& problems) {
    if (bytes > 0 && bytes < bytes_least) {
        problems.push_back(
            {{},
             std::move(key),
             '"' + std::to_string(bytes) + "\" is too small: must be 0, or " + std::to_string(bytes_least) + " or more",
             std::move(setting)});
    }
}

/// A log that is written, and its setting.
struct WrittenLog {
    std::string path;
    std::string setting;
};

void check_replays(const Settings& settings, const std::vector<WrittenLog>& written,
                   std::vector<SettingsProblem>& problems) {
    for (const DeviceSettings& device : settings.devices) {
        const std::string recording = recording_of(device);
        const auto claim = std::find_if(written.begin(), written.end(), [&](const WrittenLog& each) {
            return !recording.empty() && file_identity(each.path) == file_identity(recording);
        });
        if (claim != written.end()) {
            SectionProblems("device", device, problems)
                .add("file", '"' + recording + "\" is written by " + claim->setting +
                                 ", so its replay would never end: must be another recording");
        }
    }
}

}  // namespace

DurableLogOptions plan_log(const Settings& settings, std::vector<SettingsProblem>& problems) {
    const LogSettings& log = settings.log;
    check_bytes_max(log.bytes_max, "bytes_max", "log.bytes_max", problems);
    DurableLogOptions options;
    options.path = log.path;
    options.limits.bytes_max = static_cast<std::uint64_t>(log.bytes_max);
    options.limits.age_max_ns = log.age_max_ms * ns_per_ms;
    options.limits.free_bytes_min = static_cast<std::uint64_t>(log.free_bytes_min);
    options.limits.when_full = when_full.value(log.when_full);
    options.sync_interval = std::chrono::milliseconds(log.sync_interval_ms);
    return options;
}

std::vector<DurableLogOptions> plan_recorders(const Settings& settings, std::vector<SettingsProblem>& problems) {
    std::vector<WrittenLog> written{{settings.log.path, "log.path"}};
    std::vector<DurableLogOptions> recorders;
    const auto add = [&](const std::string& path, const std::string& device, std::string setting) {
        if (!path.empty()) {
            DurableLogOptions options;
            options.path = path;
            options.limits.bytes_max = static_cast<std::uint64_t>(settings.record.bytes_max);
            options.kind = LogKind::recording;
            options.device = device;
            recorders.push_back(std::move(options));
            written.push_back({path, std::move(setting)});
        }
    };
    add(settings.record.path, "", "gateway.record");
    for (const DeviceSettings& device : settings.devices) {
        add(device.record, device.name, "device." + device.name + ".record");
    }
    check_replays(settings, written, problems);
    check_bytes_max(settings.record.bytes_max, "record_bytes_max", "gateway.record_bytes_max", problems);
    return recorders;
}

}  // namespace telegate
