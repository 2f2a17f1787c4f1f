#pragma once

#include "app/command_line.hpp"

#include <iosfwd>

namespace telegate {

/// Reads one device of the settings as --read asks, without a gateway: nothing is published, recorded, logged or bound
/// but by the device's own driver. Prints each reading to `out` when it is over: the last sample of every channel with
/// its unit and quality, and what went wrong; as text or, with --output json, as one object a line. Deadbands, rate
/// limits and windows hold nothing back; scale, range, rate and alarm apply.
///
/// A device that is polled is read at its interval; one that sends of its own accord is listened to for
/// listen_time in each reading. Returns exit_code::ok, or exit_code::unavailable when a reading failed, or
/// exit_code::usage when there is no such device. Throws SettingsError as load_plan() does.
///
/// Threads: one, which must live as long as a command of the device may run.
/// Limits:  one sample for each channel.
[[nodiscard]] int read_device(const CommandLine& command_line, std::ostream& out, std::ostream& errors);

}  // namespace telegate
