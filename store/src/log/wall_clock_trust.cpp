#include "store/wall_clock_trust.hpp"

#include <cstdlib>

namespace telegate::store {
namespace {

/// The kernel slews both clocks together. This allows for leap seconds and for kernels that do not.
constexpr std::int64_t step_min_ns = 2'000'000'000;
constexpr std::int64_t drift_ppm = 500;
constexpr std::int64_t million = 1'000'000;

}  // namespace

bool WallClockTrust::check(const ClockPair& now, bool is_unsynchronized) noexcept {
    bool is_doubtful = is_unsynchronized || !last_;
    if (last_) {
        const std::int64_t offset_change_ns = (now.utc_ns - now.mono_ns) - (last_->utc_ns - last_->mono_ns);
        const std::int64_t apart_ns = now.mono_ns - last_->mono_ns;
        const std::int64_t noise_ns = now.between_ns + last_->between_ns + apart_ns / million * drift_ppm;
        is_doubtful = is_doubtful || std::abs(offset_change_ns) > step_min_ns + noise_ns;
    }
    last_ = now;
    if (is_doubtful) {
        doubted_mono_ns_ = now.mono_ns;
    }
    return now.mono_ns - doubted_mono_ns_ >= settling_time.count();
}

}  // namespace telegate::store
