#pragma once

#include "core/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace telegate::perf {

/// A deadline every `interval` from a start on, and how late each one was served. One that passed before the one
/// before it was served is missed.
///
/// Threads: one at a time.
/// Limits:  `ticks` deadlines, served or missed; the memory for them is taken beforehand.
/// Failure: none.
class TickRecord {
  public:
    TickRecord(Duration interval, std::uint64_t ticks);

    /// The first deadline.
    void begin(MonoTime start) noexcept;
    /// The next deadline is served now, at or after it.
    void serve(MonoTime now) noexcept;

    /// The next deadline.
    [[nodiscard]] MonoTime due() const noexcept { return due_; }
    [[nodiscard]] bool is_complete() const noexcept { return lateness_ns_.size() + missed_ >= ticks_; }
    [[nodiscard]] std::size_t served() const noexcept { return lateness_ns_.size(); }
    [[nodiscard]] std::uint64_t missed() const noexcept { return missed_; }
    /// The least lateness that `share` of those served are not above, in nanoseconds. At least one was served.
    [[nodiscard]] double lateness_at(double share) const;

  private:
    Duration interval_;
    std::uint64_t ticks_;
    MonoTime due_{};
    std::uint64_t missed_ = 0;
    std::vector<std::int64_t> lateness_ns_;
};

}  // namespace telegate::perf
