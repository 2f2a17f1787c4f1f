#pragma once

#include "zmtp/frame.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace telegate::zmtp {

inline constexpr std::size_t greeting_bytes = 64;
using Greeting = std::array<std::byte, greeting_bytes>;

/// Returns our greeting: version 3.1, `mechanism` (upper case, at most 20 bytes), as-server as given, zero filler.
[[nodiscard]] Greeting make_greeting(std::string_view mechanism, bool as_server) noexcept;

enum class GreetingStatus : std::uint8_t { need_more, ok, violation };

struct GreetingResult {
    GreetingStatus status = GreetingStatus::need_more;
    std::uint8_t minor = 0;  // ok: 0 for ZMTP 3.0, 1 for any later version
    std::string_view fault;  // violation: in a few words
};

/// Checks what has arrived of a peer's greeting, and reports a violation at the first byte that shows it. `received`:
/// its first 0 to 64 bytes. Padding and as-server are not checked, because libzmq sends arbitrary values there.
[[nodiscard]] GreetingResult check_greeting(Bytes received, std::string_view mechanism) noexcept;

}  // namespace telegate::zmtp
