#include "live/plan_change.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

/// Device settings that the sampler uses, not the driver.
constexpr std::array<std::string_view, 9> keys_not_of_driver{
    "interval_ms",     "interval_us",         "align",    "offset_ms", "errors_before_safe", "breaker_failures",
    "breaker_wait_ms", "breaker_wait_max_ms", "autostart"};

/// Returns whether the driver of this device must be recreated. Drivers use the settings of their channels.
bool is_about_driver(const SettingChange& change, const std::string& device) {
    if (change.section == "channel") {
        return change.name.starts_with(device + '/');
    }
    const bool is_not_of_driver =
        std::find(keys_not_of_driver.begin(), keys_not_of_driver.end(), change.key) != keys_not_of_driver.end();
    return change.section == "device" && change.name == device && !is_not_of_driver;
}

const DeviceSettings* find_device(const Settings& settings, std::string_view name) {
    const auto found = std::find_if(settings.devices.begin(), settings.devices.end(),
                                    [&](const DeviceSettings& each) { return each.name == name; });
    return found == settings.devices.end() ? nullptr : &*found;
}

bool is_sampled_alike(const DeviceOptions& a, const DeviceOptions& b) {
    return a.interval == b.interval && a.alignment == b.alignment && a.offset == b.offset &&
           a.errors_before_safe == b.errors_before_safe && a.breaker == b.breaker && a.started == b.started;
}

}  // namespace

PlannedChange plan_change(const Settings& from, const Settings& to, const std::vector<SettingChange>& changes) {
    const auto keeps_driver = [&](const DeviceSettings& device) {
        return std::none_of(changes.begin(), changes.end(),
                            [&](const SettingChange& change) { return is_about_driver(change, device.name); });
    };
    PlannedChange planned{make_plan(to, keeps_driver), {}};
    for (PlannedDevice& device : planned.plan.devices) {
        if (device.driver != nullptr) {
            planned.devices.set.push_back(
                {std::move(device.options), std::move(device.driver), std::move(device.processing)});
        } else if (!is_sampled_alike(device.options, device_options(from, *find_device(from, device.options.name)))) {
            planned.devices.adjusted.push_back(std::move(device.options));
        }
    }
    for (const DeviceSettings& before : from.devices) {
        if (find_device(to, before.name) == nullptr) {
            planned.devices.removed.push_back(before.name);
        }
    }
    return planned;
}

}  // namespace telegate
