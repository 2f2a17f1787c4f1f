#pragma once

#include "core/clock.hpp"
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
    std::int64_t end_ns = 0;  // monotonic
    /// uncertain when some value was, or when some reading had none; bad when none had.
    Quality quality = Quality::good;
};

/// Gathers readings in windows of one length, whole multiples of it on the monotonic clock. A window without readings
/// does not come about.
///
/// A reading that comes up to one window after its own has been closed is counted in the one that is open; when time
/// runs back by more, windows begin anew.
///
/// Threads: one. Limits: no memory but its own. Failure: none.
class ValueWindow {
  public:
    /// `length` above zero.
    explicit ValueWindow(Duration length) noexcept : length_ns_(length.count()) {}

    /// Closes the window if it is over at that time; then it is in closed().
    [[nodiscard]] bool close_at(std::int64_t time_ns) noexcept;
    void add(const Reading& reading) noexcept;

    [[nodiscard]] const WindowResult& closed() const noexcept { return closed_; }
    /// When the open window ends; the greatest number while none is open.
    [[nodiscard]] std::int64_t end_ns() const noexcept {
        return is_open_ ? start_ns_ + length_ns_ : std::numeric_limits<std::int64_t>::max();
    }

  private:
    [[nodiscard]] std::int64_t start_of(std::int64_t time_ns) const noexcept;

    const std::int64_t length_ns_;
    std::int64_t start_ns_ = 0;  // of the open window; else of the earliest that is to come
    bool is_open_ = false;
    double sum_ = 0.0;
    std::uint64_t readings_ = 0;
    bool any_uncertain_ = false;
    WindowResult open_{};
    WindowResult closed_{};
};

}  // namespace telegate::processing
