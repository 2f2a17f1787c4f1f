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

/// The device whose [channel] sections are checked, as it is planned.
struct PlannedChannels {
    const DeviceSettings& device;
    DeviceChannels sections;
    const ProcessingPlan& processing;
};

/// Adds a problem for each section whose channel processing makes, such as NAME.alarm, since nothing can be set of it;
/// and, where `driver` knows its channels before it is read, for each section of a channel that it cannot have.
/// `driver` may be null and is not opened.
void check_channel_sections(const PlannedChannels& planned, const Driver* driver,
                            std::vector<SettingsProblem>& problems);

/// Returns the problem of a section as a whole.
[[nodiscard]] SettingsProblem section_problem(const ChannelSettings& section, std::string what);

/// Returns "; did you mean \"NAME\"?" for the nearest of `names`; "" when none is near.
[[nodiscard]] std::string channel_advice(std::string_view channel, const std::vector<std::string>& names);

}  // namespace telegate
