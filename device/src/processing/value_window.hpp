#pragma once

#include "core/clock.hpp"
#include "device/processing.hpp"
#include "processing/reading.hpp"

#include <cstdint>
#include <limits>

namespace telegate::processing {

/// What came within one window.
struct WindowResult {
    double min = 0.0;  // the four are meaningful when there is a value
    double max = 0.0;
    double mean = 0.0;  // not finite when the sum was not
    double last = 0.0;
    std::uint64_t values = 0;
    std::int64_t end_ns = 0;            // monotonic
    std::int64_t utc_less_mono_ns = 0;  // added to end_ns, the end on the wall clock
    bool is_partial = false;            // values before the first one may be missing
    /// uncertain when the window is partial, some value was uncertain, or some reading had none; bad when none had.
    Quality quality = Quality::good;
};

/// Collects readings in windows of one length, which begin at whole multiples of it on one of the two clocks. There is
/// no window without readings.
///
/// A reading that arrives up to one window after its own has been closed is counted in the one that is open; when time
/// runs back by more, windows restart. On the wall clock, windows follow its steps: the one after a step is shorter.
/// The first window, unless it has a reading at its very beginning, and one that is shorter are partial.
///
/// Threads: one. Limits: no memory but its own. Failure: none.
class ValueWindow {
  public:
    /// `length` above zero.
    explicit ValueWindow(Duration length, WindowAlign align = WindowAlign::monotonic) noexcept
        : length_ns_(length.count()), align_(align) {}

    /// Continues the window of another one, if it has the same length and alignment.
    void continue_from(const ValueWindow& before) noexcept;

    /// Closes the window if it is over at that time; then it is in closed().
    [[nodiscard]] bool close_at(std::int64_t time_ns) noexcept;
    /// `utc_less_mono_ns`: what the wall clock is ahead of the monotonic one.
    void add(const Reading& reading, std::int64_t utc_less_mono_ns = 0) noexcept;

    [[nodiscard]] const WindowResult& closed() const noexcept { return closed_; }
    /// When the open window ends; the greatest number while none is open.
    [[nodiscard]] std::int64_t end_ns() const noexcept {
        return is_open_ ? end_ns_ : std::numeric_limits<std::int64_t>::max();
    }

  private:
    void open(std::int64_t time_ns, std::int64_t utc_less_mono_ns) noexcept;

    std::int64_t length_ns_;
    WindowAlign align_;
    std::int64_t start_ns_ = 0;  // of the open window; else of the earliest that is to come
    std::int64_t end_ns_ = 0;    // of the open window
    bool has_begun_ = false;     // there has been a window
    bool is_open_ = false;
    double sum_ = 0.0;
    std::uint64_t readings_ = 0;
    bool any_uncertain_ = false;
    WindowResult open_{};
    WindowResult closed_{};
};

}  // namespace telegate::processing
