#pragma once

#include "config/load.hpp"
#include "config/settings.hpp"
#include "device/driver_row.hpp"
#include "device/processing.hpp"
#include "durable/durable_log.hpp"
#include "http/rest_options.hpp"
#include "uplinks/uplinks.hpp"

#include <vector>

namespace telegate {

/// Each of these plans one kind of section, and adds a problem for every setting that cannot work. Threads: any.

/// Returns the options of the durable log.
[[nodiscard]] DurableLogOptions plan_log(const Settings& settings, std::vector<SettingsProblem>& problems);
/// Returns the recordings: first the one of the gateway, then those of devices in their order. A directory that is also
/// replayed is a problem.
[[nodiscard]] std::vector<DurableLogOptions> plan_recorders(const Settings& settings,
                                                            std::vector<SettingsProblem>& problems);
[[nodiscard]] std::vector<UplinkOptions> plan_uplinks(const Settings& settings, std::vector<SettingsProblem>& problems);
/// Also checks the files, so --check reports the same problems as a start.
[[nodiscard]] RestOptions plan_rest(const Settings& settings, std::vector<SettingsProblem>& problems);
/// Plans the processing of the channels of one device. Channels without settings are omitted.
[[nodiscard]] ProcessingPlan plan_processing(DeviceChannels channels, std::vector<SettingsProblem>& problems);

}  // namespace telegate
