#pragma once

#include "config/load.hpp"

#include <system_error>

/// What the program answers its caller, as in sysexits.h.
namespace telegate::exit_code {

inline constexpr int ok = 0;
inline constexpr int usage = 64;
inline constexpr int no_input = 66;     // a file of settings cannot be read
inline constexpr int unavailable = 69;  // an address is taken or not ours
inline constexpr int internal = 70;
inline constexpr int os_error = 71;       // the system is out of something
inline constexpr int io_error = 74;       // what was asked for cannot be written to stdout
inline constexpr int not_permitted = 77;  // by the system, for this user
inline constexpr int config = 78;

/// For a start that failed with `error`: unavailable, not_permitted or os_error.
[[nodiscard]] int of_start(const std::error_code& error) noexcept;

/// For settings that have problems: config, or no_input or not_permitted when they could not be read.
[[nodiscard]] int of_settings(const SettingsError& error) noexcept;

}  // namespace telegate::exit_code
