#include "core/unique_fd.hpp"
#include "device/clock_watch.hpp"

#include <sys/timerfd.h>
#include <sys/timex.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

namespace telegate {
namespace {

/// Threads: one at a time.
/// Limits:  one descriptor. Failure: none; without the descriptor was_set stays false.
class KernelClockSource final : public ClockSource {
  public:
    KernelClockSource() : timer_(::timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC)) { arm(); }

    [[nodiscard]] ClockReading read() noexcept override {
        ClockReading reading;
        reading.was_set = was_set();
        const ClockPair now = read_both(SystemClock());
        reading.utc_ns = now.utc_ns;
        reading.mono_ns = now.mono_ns;
        reading.between_ns = now.between_ns;
        read_kernel(reading);
        return reading;
    }

  private:
    /// Arms a timer that never expires, but is canceled when the wall clock is set.
    void arm() noexcept {
        constexpr std::int64_t seconds_max = 4'000'000'000;  // 2096
        itimerspec far{};
        far.it_value.tv_sec = static_cast<decltype(far.it_value.tv_sec)>(seconds_max);
        ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, nullptr);
    }

    bool was_set() noexcept {
        std::uint64_t expirations = 0;
        const bool is_canceled =
            timer_.get() >= 0 && ::read(timer_.get(), &expirations, sizeof expirations) < 0 && errno == ECANCELED;
        if (is_canceled) {
            arm();
        }
        return is_canceled;
    }

    static void read_kernel(ClockReading& reading) noexcept {
        constexpr double us_per_second = 1e6;
        constexpr double frequency_unit = 65'536.0;  // 1/65536 ppm
        timex kernel{};                              // modes 0: read only, needs no privilege
        const int state = ::adjtimex(&kernel);
        if (state < 0) {
            reading.failure = errno;
            return;
        }
        const bool is_off = state == TIME_ERROR || (static_cast<unsigned>(kernel.status) & unsigned{STA_UNSYNC}) != 0;
        reading.sync = is_off ? ClockSync::unsynchronized : ClockSync::synchronized;
        reading.error_estimated_s = static_cast<double>(kernel.esterror) / us_per_second;
        reading.error_maximum_s = static_cast<double>(kernel.maxerror) / us_per_second;
        reading.frequency_ppm = static_cast<double>(kernel.freq) / frequency_unit;
    }

    const UniqueFd timer_;
};

}  // namespace

std::unique_ptr<ClockSource> make_kernel_clock_source() {
    return std::make_unique<KernelClockSource>();
}

}  // namespace telegate
