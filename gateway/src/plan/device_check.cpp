#include "plan/device_check.hpp"

#include "base/section_problems.hpp"
#include "device/iio_driver.hpp"
#include "plan/channel_sections.hpp"
#include "plan/modbus_advice.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace telegate {
namespace {

/// The channels that a device has now, of those whose channels depend on the machine; nullopt: not known.
std::optional<std::vector<std::string>> channels_now(const PlannedChannels& planned) {
    if (planned.device.driver == "host") {
        return opened_channels(planned);
    }
    const IioSettings& iio = planned.device.iio;
    if (planned.device.driver != "iio" || iio.buffered) {
        return std::nullopt;
    }
    std::vector<std::string> names = iio_channels_now(iio.sys_root, iio.device);
    return names.empty() ? std::nullopt : std::optional(std::move(names));
}

void add_absent_channels(const PlannedChannels& planned, std::vector<SettingsProblem>& warnings) {
    if (planned.sections.empty()) {
        return;
    }
    const auto names = channels_now(planned);
    for (const ChannelSettings* const section : planned.sections) {
        if (names && std::find(names->begin(), names->end(), section->channel()) == names->end()) {
            warnings.push_back(section_problem(
                *section, "the device has no channel of this name now" + channel_advice(section->channel(), *names)));
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
        SectionProblems found("device." + device->name, device->places, device->place, warnings);
        for (const MissingPart& part : planned.driver->missing_parts()) {
            found.add(part.option, "not there now: " + part.what);
        }
        const std::vector<const ChannelSettings*> channels = channels_of(settings, device->name);
        add_absent_channels({*device, channels, planned.processing}, warnings);
        if (device->driver == "modbus") {
            add_modbus_advice(*device, channels, warnings);
        }
    }
    return warnings;
}

}  // namespace telegate
