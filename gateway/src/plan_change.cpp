#include "plan_change.hpp"

#include "plan.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace telegate {
namespace {

/// Settings of a device that the sampler minds, not the driver.
constexpr std::array<std::string_view, 4> keys_of_sampler{"interval_ms", "interval_us", "errors_before_safe",
                                                          "autostart"};

bool is_about_driver(const SettingChange& change) {
    return std::find(keys_of_sampler.begin(), keys_of_sampler.end(), change.key) == keys_of_sampler.end();
}

const DeviceSettings* find_device(const Settings& settings, std::string_view name) {
    const auto found = std::find_if(settings.devices.begin(), settings.devices.end(),
                                    [&](const DeviceSettings& each) { return each.name == name; });
    return found == settings.devices.end() ? nullptr : &*found;
}

bool is_sampled_alike(const DeviceOptions& a, const DeviceOptions& b) {
    return a.interval == b.interval && a.errors_before_safe == b.errors_before_safe && a.started == b.started;
}

}  // namespace

PlannedChange plan_change(const Settings& from, const Settings& to, const std::vector<SettingChange>& changes) {
    const auto keeps_driver = [&](const DeviceSettings& device) {
        return std::none_of(changes.begin(), changes.end(), [&](const SettingChange& change) {
            return change.section == "device" && change.name == device.name && is_about_driver(change);
        });
    };
    Plan plan = make_plan(to, keeps_driver);
    PlannedChange planned;
    for (PlannedDevice& device : plan.devices) {
        if (device.driver != nullptr) {
            planned.devices.set.push_back({std::move(device.options), std::move(device.driver)});
        } else if (!is_sampled_alike(device.options, device_options(from, *find_device(from, device.options.name)))) {
            planned.devices.adjusted.push_back(std::move(device.options));
        }
    }
    for (const DeviceSettings& before : from.devices) {
        if (find_device(to, before.name) == nullptr) {
            planned.devices.removed.push_back(before.name);
        }
    }
    planned.publish = std::move(plan.publish);
    planned.services = std::move(plan.services);
    planned.queue_capacity = plan.queue_capacity;
    planned.queue_policy = plan.queue_policy;
    planned.log_level = to.log_level;
    return planned;
}

}  // namespace telegate
