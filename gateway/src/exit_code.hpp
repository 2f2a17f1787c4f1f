#pragma once

#include <system_error>

/// What the program answers its caller, as in sysexits.h.
namespace telegate::exit_code {

inline constexpr int ok = 0;
inline constexpr int usage = 64;
inline constexpr int unavailable = 69;  // an address is taken or not ours
inline constexpr int internal = 70;
inline constexpr int os_error = 71;  // the system is out of something
inline constexpr int config = 78;

/// For a start that failed with `error`: unavailable or os_error.
[[nodiscard]] int of_start(const std::error_code& error) noexcept;

}  // namespace telegate::exit_code
