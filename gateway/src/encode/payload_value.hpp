#pragma once

#include "core/telemetry_sample.hpp"

#include <cmath>

namespace telegate {

/// Whether a sample has such a value: NaN and infinities travel without a value, in every format.
[[nodiscard]] inline bool is_nan_or_infinite(const TelemetrySample& sample) noexcept {
    return sample.type == ValueType::real && !std::isfinite(sample.value.real);
}

/// The quality that goes with it.
[[nodiscard]] inline Quality quality_of(const TelemetrySample& sample) noexcept {
    return is_nan_or_infinite(sample) ? Quality::bad : sample.quality;
}

/// Whether the payload says that nothing kept the wall clock right, and has the time on the monotonic clock too.
[[nodiscard]] inline bool has_doubtful_time(const TelemetrySample& sample) noexcept {
    return (sample.flags & sample_flag::time_unsynchronised) != 0;
}

}  // namespace telegate
