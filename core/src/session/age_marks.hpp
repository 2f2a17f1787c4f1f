#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>

namespace telegate {

/// Records roughly when the contents of a log were published: marks of the log's end at certain times, numbered from 1
/// as ticks. Copies of messages outside the log carry the tick in which they were published.
///
/// Threads: the reactor's thread.
/// Limits: marks_per_age marks and a few more. Ticks restart at 1 after 99 days of the shortest steps; a copy that
/// waits for less than half of that time is still distinguished from newer ones.
/// Failure: update() may throw std::bad_alloc.
class AgeMarks {
  public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr int marks_per_age = 16;
    /// Old messages are dropped at most three steps late: a mark must follow the message, that mark may be one update()
    /// late, and the messages are dropped at the next update().
    static constexpr std::chrono::milliseconds step_min{2};

    /// `ticks`: the number of ticks so far.
    explicit AgeMarks(std::uint32_t ticks = 0) noexcept : ticks_(ticks) {}

    /// Returns the time from one mark to the next.
    [[nodiscard]] static std::chrono::milliseconds step(std::chrono::milliseconds age) noexcept {
        return std::max(age / marks_per_age, step_min);
    }
    /// Adds a mark for the log's end at `log_position` if the last mark is at least one step old.
    void update(Time now, std::uint64_t log_position, std::chrono::milliseconds age) {
        if (marks_.empty() || now - marks_.back().time >= step(age)) {
            ticks_ = tick();
            marks_.push_back({now, log_position, ticks_});
        }
        while (marks_.size() > 1 && marks_[1].time <= now - age) {
            marks_.pop_front();  // the next mark is also old enough and covers more
        }
    }
    /// Returns the tick of messages published now. Never 0.
    [[nodiscard]] std::uint32_t tick() const noexcept { return ticks_ == UINT32_MAX ? 1 : ticks_ + 1; }
    /// Returns whether `tick` is `last` or earlier.
    [[nodiscard]] static bool is_up_to(std::uint32_t last, std::uint32_t tick) noexcept {
        return static_cast<std::int32_t>(last - tick) >= 0;
    }
    /// Returns the tick of the message at `log_position`.
    [[nodiscard]] std::uint32_t tick_at(std::uint64_t log_position) const noexcept {
        for (const Mark& mark : marks_) {
            if (mark.log_position > log_position) {
                return mark.tick;
            }
        }
        return tick();
    }
    struct Old {
        std::uint64_t before_position = 0;
        std::uint32_t up_to_tick = 0;  // 0: no message is old
    };
    /// Returns which messages were published before `time`.
    [[nodiscard]] Old published_before(Time time) const noexcept {
        Old old;
        for (const Mark& mark : marks_) {
            if (mark.time <= time) {
                old = {mark.log_position, mark.tick};
            }
        }
        return old;
    }

  private:
    struct Mark {
        Time time;
        std::uint64_t log_position;
        std::uint32_t tick;
    };
    std::deque<Mark> marks_;
    std::uint32_t ticks_;
};

}  // namespace telegate
