#pragma once

#include "core/clock.hpp"
#include "report.hpp"

#include <cstdint>

namespace telegate::perf {

/// Periodic deadlines and the lateness of each. A deadline is missed if the next one passes before it is served.
///
/// Threads: one at a time.
/// Limits:  `ticks` deadlines, served or missed, whose memory is allocated in advance.
/// Failure: none.
class TickRecord {
  public:
    TickRecord(Duration interval, std::uint64_t ticks)
        : interval_(interval), ticks_(ticks), lateness_ns_(ticks) {  // touches each page before the measurement
        lateness_ns_.clear();
    }

    /// Sets the first deadline.
    void begin(MonoTime start) noexcept { due_ = start; }
    /// Serves the next deadline, which has passed.
    void serve(MonoTime now) noexcept {
        const auto passed = (now - due_) / interval_;
        lateness_ns_.push_back((now - due_).count());
        missed_ += static_cast<std::uint64_t>(passed);
        due_ += (passed + 1) * interval_;
    }

    /// Returns the next deadline.
    [[nodiscard]] MonoTime due() const noexcept { return due_; }
    [[nodiscard]] bool is_complete() const noexcept { return lateness_ns_.size() + missed_ >= ticks_; }
    [[nodiscard]] std::size_t served() const noexcept { return lateness_ns_.size(); }
    [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }
    /// Returns a quantile of the lateness in nanoseconds. At least one deadline was served.
    [[nodiscard]] double lateness_at(double share) const {
        std::vector<std::int64_t> lateness(lateness_ns_);
        return static_cast<double>(quantile(lateness, share));
    }

  private:
    Duration interval_;
    std::uint64_t ticks_;
    MonoTime due_{};
    std::uint64_t missed_ = 0;
    std::vector<std::int64_t> lateness_ns_;
};

}  // namespace telegate::perf
