#pragma once

#include "core/clock.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace telegate {

/// Whether the wall clock is synchronized (NTP, PTP, GPS), according to the kernel.
enum class ClockSync : std::uint8_t { unknown, unsynchronized, synchronized };
[[nodiscard]] std::string_view to_string(ClockSync sync) noexcept;

/// The state of the wall clock at one moment, as the kernel reports it.
struct ClockReading {
    std::int64_t utc_ns = 0;
    std::int64_t mono_ns = 0;
    std::int64_t between_ns = 0;  // the longest time that can have passed between reading the two
    bool was_set = false;         // the kernel reports that the clock was set since the previous reading
    ClockSync sync = ClockSync::unknown;
    int failure = 0;  // errno if the state is unknown
    double error_estimated_s = 0.0;
    double error_maximum_s = 0.0;
    double frequency_ppm = 0.0;  // the frequency correction that the kernel applies
};

/// A source of clock readings: the kernel, or a test.
/// Threads: one at a time.
class ClockSource {
  public:
    virtual ~ClockSource() = default;
    [[nodiscard]] virtual ClockReading read() noexcept = 0;
};

/// Creates a source that calls adjtimex() without changing anything, and uses a timer that the kernel cancels when the
/// wall clock is set. If no descriptor is available for the timer, was_set is never true.
[[nodiscard]] std::unique_ptr<ClockSource> make_kernel_clock_source();

struct ClockStep {
    std::int64_t time_utc_ns = 0;  // when it was detected, on the clock after the step
    double seconds = 0.0;          // positive: forward
};

struct ClockStatus {
    ClockReading reading;
    std::int64_t offset_ns = 0;  // wall clock minus monotonic clock
    std::uint64_t steps = 0;     // since the watch was created
    double stepped_s = 0.0;      // sum of all steps
    std::optional<ClockStep> last_step = {};
};

/// Watches whether the wall clock is synchronized, as far as that is known, and whether it is stepped.
///
/// The wall clock and the monotonic clock are slewed together, so their difference changes only when the wall clock is
/// set, at a leap second, or while the machine sleeps. If the kernel reports that the clock was set, any difference
/// larger than the uncertainty of the reading is a step. Otherwise a step is a difference of more than step_min plus
/// step_ppm of the time between two readings, which allows for kernels that slew the clocks separately.
///
/// Threads: any. read() and status() wait for a concurrent reading to finish, which takes microseconds;
/// is_unsynchronized() never waits.
/// Limits: one reading at a time; stores the last reading and the last step.
/// Failure: none; an unknown value is reported as unknown.
class ClockWatch {
  public:
    static constexpr std::int64_t step_min_ns = 1'000'000;
    static constexpr std::int64_t step_ppm = 500;
    /// The maximum age of the result of is_unsynchronized().
    static constexpr std::int64_t look_interval_ns = 1'000'000'000;

    explicit ClockWatch(std::unique_ptr<ClockSource> source = make_kernel_clock_source());

    /// Reads the clock now.
    ClockStatus read();
    /// Returns the status as of the last reading.
    [[nodiscard]] ClockStatus status() const;
    /// Returns whether the kernel reports the wall clock as unsynchronized at `mono_ns` on the monotonic clock. Reads
    /// the clock if the last reading is too old.
    [[nodiscard]] bool is_unsynchronized(std::int64_t mono_ns) noexcept;

  private:
    void read_clock() noexcept;

    mutable std::mutex mutex_;  // guards source_ and status_
    const std::unique_ptr<ClockSource> source_;
    ClockStatus status_;
    bool has_reading_ = false;
    std::atomic<std::int64_t> read_at_ns_{0};
    std::atomic<bool> is_unsynchronized_{false};
};

/// Returns the watch of this machine's clock. There is one per process.
[[nodiscard]] std::shared_ptr<ClockWatch> machine_clock_watch();

/// The system's clocks, with the synchronization state from a ClockWatch.
class WatchedClock final : public Clock {
  public:
    explicit WatchedClock(std::shared_ptr<ClockWatch> watch = machine_clock_watch()) : watch_(std::move(watch)) {}

    [[nodiscard]] MonoTime mono_now() const noexcept override { return system_.mono_now(); }
    [[nodiscard]] std::int64_t utc_now_ns() const noexcept override { return system_.utc_now_ns(); }
    [[nodiscard]] bool utc_is_unsynchronized(std::int64_t mono_ns) const noexcept override {
        return watch_->is_unsynchronized(mono_ns);
    }

  private:
    const SystemClock system_;
    const std::shared_ptr<ClockWatch> watch_;
};

}  // namespace telegate
