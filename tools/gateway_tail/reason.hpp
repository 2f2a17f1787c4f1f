#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace telegate::tail {

/// Why samples are lost.
enum class Reason : std::uint8_t {
    // before publication, by notice
    queue_overflow,
    shutdown,
    // to this subscriber, by notice, when they cannot be recovered either
    slow,
    expired,
    // by the answer of a replay
    not_held,
    dropped,
    // ours
    no_answer,      // the services were not reachable, or did not answer
    not_asked,      // --no-recover
    unknown_epoch,  // the gateway cannot say anything about its former run
    ended,          // this program ended before they could be recovered
    other,          // a word that this program does not know
};

inline constexpr std::size_t reasons = static_cast<std::size_t>(Reason::other) + 1;

[[nodiscard]] std::string_view to_string(Reason reason) noexcept;
/// Reason::other for a word that is none.
[[nodiscard]] Reason parse_reason(std::string_view text) noexcept;

}  // namespace telegate::tail
