#pragma once

#include "core/telemetry_sample.hpp"

#include <cstdint>

namespace telegate::processing {

enum class ReadingKind : std::uint8_t { number, logical, text };

/// One reading of a channel on its way through the stages.
struct Reading {
    double value = 0.0;        // finite; of a logical one 0 or 1; of a text, and without a value, 0
    std::int64_t time_ns = 0;  // monotonic
    Quality quality = Quality::good;
    bool has_value = true;

    /// Whether the stages may reckon with the value.
    [[nodiscard]] bool counts() const noexcept {
        return has_value && (quality == Quality::good || quality == Quality::uncertain);
    }
    void become_absent() noexcept {
        value = 0.0;
        has_value = false;
        quality = Quality::bad;
    }
};

/// Of a time that is asked for, this share is not waited for: the readings of a tick that is a little late are followed
/// by some that are a little early, and those are meant.
inline constexpr std::int64_t early_share = 16;

}  // namespace telegate::processing
