#pragma once

#include "core/clock.hpp"
#include "device/processing.hpp"
#include "processing/reading.hpp"

#include <cstdint>
#include <limits>

namespace telegate::processing {

/// The aggregates of one window.
struct WindowResult {
    double min = 0.0;  // these four are valid if there is a value
    double max = 0.0;
    double mean = 0.0;  // infinite or NaN if the sum was
    double last = 0.0;
    std::uint64_t values = 0;
    std::int64_t end_ns = 0;            // monotonic
    std::int64_t utc_less_mono_ns = 0;  // end_ns plus this is the end on the wall clock
    bool is_partial = false;            // values before the first one may be missing
    /// bad if no reading had a value; uncertain if the window is partial, a value was uncertain, or a reading had no
    /// value.
    Quality quality = Quality::good;
};

/// Collects readings in windows of one length, which begin at whole multiples of the length on one of the two clocks. A
/// window without readings does not exist.
///
/// A reading that arrives up to one window after its own window was closed is counted in the open window. If time runs
/// back by more, the open window is closed as partial, and windows restart. They are partial until one directly follows
/// another or begins where windows were before. On the wall clock, windows follow its steps: the window after a step is
/// shorter. A shorter window is partial, and so is the first window unless it has a reading at its beginning.
///
/// Threads: one. Limits: no allocation. Failure: none.
class ValueWindow {
  public:
    /// `length` must be greater than zero.
    explicit ValueWindow(Duration length, WindowAlign align = WindowAlign::monotonic) noexcept
        : length_ns_(length.count()), align_(align) {}

    /// Continues the window of another instance if it has the same length and alignment.
    void continue_from(const ValueWindow& before) noexcept;

    /// Closes the window if it has ended at `time_ns`. Returns whether closed() has a new window.
    [[nodiscard]] bool close_at(std::int64_t time_ns) noexcept;
    /// `utc_less_mono_ns` is the wall clock minus the monotonic clock.
    void add(const Reading& reading, std::int64_t utc_less_mono_ns = 0) noexcept;

    [[nodiscard]] const WindowResult& closed() const noexcept { return closed_; }
    [[nodiscard]] std::int64_t length_ns() const noexcept { return length_ns_; }
    /// Returns whether the time is in a window that has been closed.
    [[nodiscard]] bool is_late(std::int64_t time_ns) const noexcept { return has_begun_ && time_ns < start_ns_; }
    /// Returns when the open window ends; the maximum if none is open.
    [[nodiscard]] std::int64_t end_ns() const noexcept {
        return is_open_ ? end_ns_ : std::numeric_limits<std::int64_t>::max();
    }

  private:
    void open(std::int64_t time_ns, std::int64_t utc_less_mono_ns) noexcept;

    std::int64_t length_ns_;
    WindowAlign align_;
    std::int64_t start_ns_ = 0;   // of the open window, or the earliest start of the next one
    std::int64_t end_ns_ = 0;     // of the open window
    std::int64_t passed_ns_ = 0;  // the latest end of a window before time ran back
    bool is_settled_ = true;      // false: time ran back, and no later window is known to be whole
    bool has_begun_ = false;      // a window has been opened
    bool is_open_ = false;
    double sum_ = 0.0;
    std::uint64_t readings_ = 0;
    bool any_uncertain_ = false;
    WindowResult open_{};
    WindowResult closed_{};
};

}  // namespace telegate::processing
