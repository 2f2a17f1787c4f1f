#pragma once

#include "core/telemetry_sample.hpp"

#include <cmath>

namespace telegate {

/// Returns whether the value is NaN or infinite; payloads of every format omit such a value.
[[nodiscard]] inline bool is_nan_or_infinite(const TelemetrySample& sample) noexcept {
    return sample.type == ValueType::real && !std::isfinite(sample.value.real);
}

/// Returns the quality in the payload: bad for NaN and infinities.
[[nodiscard]] inline Quality quality_of(const TelemetrySample& sample) noexcept {
    return is_nan_or_infinite(sample) ? Quality::bad : sample.quality;
}

/// Returns whether the payload marks the time as unsynchronized and adds the monotonic time.
[[nodiscard]] inline bool has_doubtful_time(const TelemetrySample& sample) noexcept {
    return (sample.flags & sample_flag::time_unsynchronized) != 0;
}

}  // namespace telegate
