#pragma once

#include "core/telemetry_sample.hpp"

#include <cstdint>

namespace telegate::processing {

enum class ReadingKind : std::uint8_t { number, logical, text };

/// One reading of a channel as it passes through the stages.
struct Reading {
    double value = 0.0;        // finite; a boolean is 0 or 1; a text or a missing value is 0
    std::int64_t time_ns = 0;  // monotonic
    Quality quality = Quality::good;
    bool has_value = true;

    /// Returns whether the stages may use the value.
    [[nodiscard]] bool counts() const noexcept {
        return has_value && (quality == Quality::good || quality == Quality::uncertain);
    }
    void become_absent() noexcept {
        value = 0.0;
        has_value = false;
        quality = Quality::bad;
    }
};

/// A configured time counts as reached when all but this fraction has passed, because after a late tick the next
/// readings come slightly early.
inline constexpr std::int64_t early_share = 16;

}  // namespace telegate::processing
