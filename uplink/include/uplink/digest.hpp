#pragma once

#include <cstdint>
#include <string_view>

namespace telegate::uplink {

/// Returns a number that is the same for equal texts and not 0 (FNV-1a). Threads: any.
[[nodiscard]] constexpr std::uint64_t digest_of(std::string_view text) noexcept {
    std::uint64_t digest = 0xcbf2'9ce4'8422'2325;
    for (const char each : text) {
        digest = (digest ^ static_cast<unsigned char>(each)) * 0x100'0000'01b3;
    }
    return digest == 0 ? 1 : digest;
}

}  // namespace telegate::uplink
