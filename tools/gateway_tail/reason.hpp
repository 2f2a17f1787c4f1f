#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace telegate::tail {

/// The reason why samples are lost.
enum class Reason : std::uint8_t {
    // lost before publication, reported by a gap notice
    queue_overflow,
    shutdown,
    // lost for this subscriber, reported by a gap notice; used if they cannot be recovered either
    slow,
    expired,
    // reported in the reply to a replay request
    not_retained,
    dropped,
    // determined by this program
    no_answer,      // the services were unreachable or did not reply
    not_asked,      // --no-recover was given
    unknown_epoch,  // the gateway has no information about that epoch
    ended,          // this program ended before the samples were recovered
    other,          // a reason that this program does not know
};

inline constexpr std::size_t reasons = static_cast<std::size_t>(Reason::other) + 1;

[[nodiscard]] std::string_view to_string(Reason reason) noexcept;
/// Returns Reason::other for an unknown word.
[[nodiscard]] Reason parse_reason(std::string_view text) noexcept;

}  // namespace telegate::tail
