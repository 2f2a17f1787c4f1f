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

/// Adds a problem for each entry that no device matches.
void check_devices(const Settings& settings, const DurableLogOptions& log, std::vector<SettingsProblem>& problems) {
    for (const std::string& entry : log.devices) {
        DurableLogOptions alone;
        alone.devices = {entry};
        if (std::none_of(settings.devices.begin(), settings.devices.end(),
                         [&](const DeviceSettings& device) { return alone.has_device(device.name); })) {
            SectionProblems("log", settings.places_of("log"), {}, problems)
                .add("devices",
                     "unknown device \"" + entry + "\": must be the name of a device, or the beginning of one and *");
        }
    }
}

void check_bytes_max(std::int64_t bytes, std::string_view key, SectionProblems found) {
    if (bytes > 0 && bytes < bytes_least) {
        found.add(key, '"' + std::to_string(bytes) + "\" is too small: must be 0, or " + std::to_string(bytes_least) +
                           " or more");
    }
}

void check_replays(const Settings& settings, std::vector<SettingsProblem>& problems) {
    const std::string& log = settings.log.path;
    for (const DeviceSettings& device : settings.devices) {
        const std::string played = played_log_of(device);
        if (!log.empty() && !played.empty() && file_identity(log) == file_identity(played)) {
            SectionProblems("device", device, problems)
                .add("path", '"' + played +
                                 "\" is the log of this gateway, so its replay would never end: must be "
                                 "another log");
        }
    }
}

}  // namespace

DurableLogOptions plan_log(const Settings& settings, std::vector<SettingsProblem>& problems) {
    const LogSettings& log = settings.log;
    check_bytes_max(log.bytes_max, "bytes_max", SectionProblems("log", settings.places_of("log"), {}, problems));
    DurableLogOptions options;
    options.path = log.path;
    options.limits.bytes_max = static_cast<std::uint64_t>(log.bytes_max);
    options.limits.age_max_ns = log.age_max_ms * ns_per_ms;
    options.limits.free_bytes_min = static_cast<std::uint64_t>(log.free_bytes_min);
    options.limits.when_full = when_full.value(log.when_full);
    options.sync_interval = std::chrono::milliseconds(log.sync_interval_ms);
    options.devices = log.devices;
    check_devices(settings, options, problems);
    check_replays(settings, problems);
    return options;
}

}  // namespace telegate
