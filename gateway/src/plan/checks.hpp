#pragma once

#include "config/load.hpp"
#include "plan/plan.hpp"

#include <vector>

namespace telegate {

/// Returns warnings about the devices that are useful before a start, although the settings have no problem: parts that
/// this machine currently lacks, channels that the devices currently lack, Modbus addresses that look like those in a
/// manual, and registers that two channels read differently. Opens no device and sends no data.
[[nodiscard]] std::vector<SettingsProblem> device_warnings(const Settings& settings, const Plan& plan);

/// Returns warnings about settings that are valid and probably not meant: samples that are removed too early, windows
/// with less than two readings, subscribers from everywhere without CURVE, and secrets that other users can read.
[[nodiscard]] std::vector<SettingsProblem> setting_warnings(const Settings& settings);

/// Returns a warning if the settings give the queue a size that may not hold one reading of each device, with a size
/// that does: half of the queue, if there are several sampling threads. Counts the channels that are known before the
/// devices are read.
[[nodiscard]] std::vector<SettingsProblem> queue_warnings(const Settings& settings, const Plan& plan);

/// Returns the reasons why this machine cannot currently run valid settings: addresses that no interface has, and
/// directories of sockets, files and the durable log that are missing or not writable, and a disk that is too small for
/// the log. Only inspects and changes nothing, so an address or a log in use is not detected. The result may differ at
/// the next start.
[[nodiscard]] std::vector<SettingsProblem> machine_problems(const Settings& settings);

}  // namespace telegate
