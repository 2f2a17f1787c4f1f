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

/// Whether something keeps the wall clock right (NTP, PTP, GPS), as the kernel has it.
enum class ClockSync : std::uint8_t { unknown, unsynchronised, synchronised };
[[nodiscard]] std::string_view to_string(ClockSync sync) noexcept;

/// What the kernel says of the wall clock at one moment.
struct ClockReading {
    std::int64_t utc_ns = 0;
    std::int64_t mono_ns = 0;
    std::int64_t between_ns = 0;  // how far apart the two may have been read
    bool was_set = false;         // the kernel says that it was set since the reading before
    ClockSync sync = ClockSync::unknown;
    int failure = 0;  // why it is unknown: the system's number of the error
    double error_estimated_s = 0.0;
    double error_maximum_s = 0.0;
    double frequency_ppm = 0.0;  // by how much the kernel corrects its speed
};

/// Where readings come from: the kernel, or a test.
/// Threads: one at a time.
class ClockSource {
  public:
    virtual ~ClockSource() = default;
    [[nodiscard]] virtual ClockReading read() noexcept = 0;
};

/// adjtimex() without a change, and a timer that the kernel cancels when the wall clock is set. Where there is no such
/// timer (no descriptor left) was_set is never true.
[[nodiscard]] std::unique_ptr<ClockSource> make_kernel_clock_source();

struct ClockStep {
    std::int64_t time_utc_ns = 0;  // when it was seen, by the clock as it was set
    double seconds = 0.0;          // forward when positive
};

struct ClockStatus {
    ClockReading reading;
    std::int64_t offset_ns = 0;  // the wall clock less the monotonic one
    std::uint64_t steps = 0;     // since the watch began
    double stepped_s = 0.0;      // all steps together
    std::optional<ClockStep> last_step = {};
};

/// Keeps an eye on the wall clock: whether it is right, as far as anybody knows, and whether it was stepped.
///
/// The wall clock and the monotonic one are slewed together, so their difference changes only when the wall clock is
/// set, by a leap second, or while the machine sleeps. Where the kernel tells of it, any difference counts that is
/// more than the reading's own inaccuracy; otherwise one of more than step_min and step_ppm of the time between two
/// looks, as on kernels that slew otherwise.
///
/// Threads: any. look() and status() wait for another look to end, some microseconds; is_unsynchronised() never waits.
/// Limits:  one reading at a time; keeps the last one and the last step.
/// Failure: none; what is unknown is told as such.
class ClockWatch {
  public:
    static constexpr std::int64_t step_min_ns = 1'000'000;
    static constexpr std::int64_t step_ppm = 500;
    /// What is_unsynchronised() says is at most so old.
    static constexpr std::int64_t look_interval_ns = 1'000'000'000;

    explicit ClockWatch(std::unique_ptr<ClockSource> source = make_kernel_clock_source());

    /// Looks now.
    ClockStatus look();
    /// As of the last look.
    [[nodiscard]] ClockStatus status() const;
    /// Whether the kernel says at that time, on the monotonic clock, that nothing keeps the wall clock right. Looks
    /// when the last look is long ago.
    [[nodiscard]] bool is_unsynchronised(std::int64_t mono_ns) noexcept;

  private:
    void take_reading() noexcept;

    mutable std::mutex mutex_;  // guards source_ and status_
    const std::unique_ptr<ClockSource> source_;
    ClockStatus status_;
    bool has_reading_ = false;
    std::atomic<std::int64_t> looked_at_ns_{0};
    std::atomic<bool> is_unsynchronised_{false};
};

/// The watch of this machine's clock, one for the process.
[[nodiscard]] std::shared_ptr<ClockWatch> machine_clock_watch();

/// The system's clocks, and what the watch says of the wall clock.
class WatchedClock final : public Clock {
  public:
    explicit WatchedClock(std::shared_ptr<ClockWatch> watch = machine_clock_watch()) : watch_(std::move(watch)) {}

    [[nodiscard]] MonoTime mono_now() const noexcept override { return system_.mono_now(); }
    [[nodiscard]] std::int64_t utc_now_ns() const noexcept override { return system_.utc_now_ns(); }
    [[nodiscard]] bool utc_is_unsynchronised(std::int64_t mono_ns) const noexcept override {
        return watch_->is_unsynchronised(mono_ns);
    }

  private:
    const SystemClock system_;
    const std::shared_ptr<ClockWatch> watch_;
};

}  // namespace telegate
