#include "processing/rate_of_change.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace telegate::processing {
namespace {

constexpr double range_32_bits = 4'294'967'296.0;
constexpr double seconds_per_ns = 1e-9;

/// Returns NaN if the counter restarted.
double counter_step(double before, double now) noexcept {
    if (now >= before) {
        return now - before;
    }
    const double across = now + range_32_bits - before;
    const bool runs_over = now >= 0.0 && before < range_32_bits && across < range_32_bits / 2;
    return runs_over ? across : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

Reading RateOfChange::process(Reading reading, double raw) noexcept {
    if (!reading.counts()) {
        // The earlier reading is kept: the next rate is the mean over the gap.
        const Quality quality = reading.quality;
        reading.become_absent();
        reading.quality = quality;
        return reading;
    }
    const Reading before = std::exchange(before_, reading);
    const double raw_before = std::exchange(raw_before_, raw);
    const bool is_first = !std::exchange(has_before_, true);
    const double seconds = static_cast<double>(reading.time_ns - before.time_ns) * seconds_per_ns;
    const double step = is_counter_ ? scale_ * counter_step(raw_before, raw) : reading.value - before.value;
    reading.value = step / seconds;
    if (is_first || seconds <= 0.0 || !std::isfinite(reading.value)) {
        reading.become_absent();
    } else if (before.quality == Quality::uncertain) {
        reading.quality = Quality::uncertain;
    }
    return reading;
}

}  // namespace telegate::processing
