#pragma once

#include "app/command_line.hpp"

#include <iosfwd>

namespace telegate {

/// Reads one device of the settings for --read, without a gateway: nothing is published, recorded, logged or bound,
/// except by the device's own driver. Prints each completed reading to `out` as text or, with --output json, as one
/// JSON object per line: the last sample of every channel with its unit and quality, and the error, if any. Deadbands,
/// rate limits and windows are ignored; scale, range, rate and alarm apply.
///
/// A polled device is read at its interval; a device that sends on its own is read for listen_time per reading. Returns
/// exit_code::ok; exit_code::unavailable if a reading failed; exit_code::usage if the device does not exist. Throws
/// SettingsError like load_plan().
///
/// Threads: one, which must live as long as a command of the device may run.
/// Limits: one sample per channel.
[[nodiscard]] int read_device(const CommandLine& command_line, std::ostream& out, std::ostream& errors);

}  // namespace telegate
