#include "plan/checks.hpp"

#include "config/section_problems.hpp"
#include "device/driver_row.hpp"
#include "plan/channel_sections.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace telegate {
namespace {

void add_absent_channels(const PlannedChannels& planned, std::vector<SettingsProblem>& warnings) {
    const DriverRow& driver = find_driver(planned.device.driver);
    if (planned.sections.empty() || driver.channels_now == nullptr) {
        return;
    }
    const auto names = driver.channels_now(planned.device, planned.sections);
    for (const ChannelSettings* const section : planned.sections) {
        if (names && std::find(names->begin(), names->end(), section->channel()) == names->end()) {
            warnings.push_back(section_problem(*section, "the device currently has no channel with this name" +
                                                             channel_advice(section->channel(), *names)));
        }
    }
}

}  // namespace

std::vector<SettingsProblem> device_warnings(const Settings& settings, const Plan& plan) {
    std::vector<SettingsProblem> warnings;
    for (const PlannedDevice& planned : plan.devices) {
        const auto device = std::find_if(settings.devices.begin(), settings.devices.end(),
                                         [&](const DeviceSettings& each) { return each.name == planned.options.name; });
        if (device == settings.devices.end()) {
            continue;
        }
        SectionProblems found("device", *device, warnings);
        for (const MissingPart& part : planned.driver->missing_parts()) {
            found.add(part.option, "currently not available: " + part.what);
        }
        const std::vector<const ChannelSettings*> channels = channels_of(settings, device->name);
        add_absent_channels({*device, channels, planned.processing}, warnings);
        if (const DriverRow& driver = find_driver(device->driver); driver.warn != nullptr) {
            driver.warn(*device, channels, warnings);
        }
    }
    return warnings;
}

}  // namespace telegate
