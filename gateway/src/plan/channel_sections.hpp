#pragma once

#include "config/load.hpp"
#include "config/settings.hpp"
#include "device/driver.hpp"
#include "device/driver_row.hpp"
#include "device/processing.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// A planned device whose [channel] sections are checked.
struct PlannedChannels {
    const DeviceSettings& device;
    DeviceChannels sections;
    const ProcessingPlan& processing;
};

/// Adds a problem for each section of a channel that processing creates, such as NAME.alarm, because it has no
/// settings; and, if `driver` knows its channels before it is read, for each section of a channel that the device
/// cannot have. `driver` may be null and is not opened.
void check_channel_sections(const PlannedChannels& planned, const Driver* driver,
                            std::vector<SettingsProblem>& problems);

/// Returns the problem of a section as a whole.
[[nodiscard]] SettingsProblem section_problem(const ChannelSettings& section, std::string what);

/// Returns "; did you mean \"NAME\"?" with the nearest of `names`; "" if none is near.
[[nodiscard]] std::string channel_advice(std::string_view channel, const std::vector<std::string>& names);

}  // namespace telegate
