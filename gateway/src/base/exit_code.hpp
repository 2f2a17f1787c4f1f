#pragma once

#include "config/load.hpp"

#include <iosfwd>
#include <string_view>
#include <system_error>

/// Exit codes of the program, as in sysexits.h.
namespace telegate::exit_code {

inline constexpr int ok = 0;
inline constexpr int usage = 64;
inline constexpr int no_input = 66;     // a settings file cannot be read
inline constexpr int unavailable = 69;  // an address is in use or is not local
inline constexpr int internal = 70;
inline constexpr int os_error = 71;       // other system error, such as no free descriptors or no memory
inline constexpr int io_error = 74;       // the output cannot be written to stdout
inline constexpr int not_permitted = 77;  // permission denied by the system
inline constexpr int config = 78;

/// Makes operator new end the process with os_error when there is no memory. The next start names what is lost, as
/// after a crash.
void exit_without_memory() noexcept;

/// Returns the exit code for a start that failed with `error`: unavailable, not_permitted or os_error.
[[nodiscard]] int of_start(const std::error_code& error) noexcept;

/// Returns the exit code for invalid settings: config, or no_input or not_permitted if they could not be read.
[[nodiscard]] int of_settings(const SettingsError& error) noexcept;

}  // namespace telegate::exit_code

namespace telegate {

/// Returns `code` if the whole text was written. Otherwise writes the reason to `errors` and returns
/// exit_code::io_error, so that a script does not mistake truncated output for complete output. Threads: one.
[[nodiscard]] int write_out(std::ostream& out, std::ostream& errors, std::string_view text, int code);

}  // namespace telegate
