#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>

namespace telegate {

/// When what lies in a log was published, roughly: marks of the log's end at certain times, numbered from 1 as ticks.
/// Copies of messages that lie elsewhere carry the tick in which they were published.
///
/// Threads: the reactor's.
/// Limits:  marks_per_age and a few. Ticks begin again at 1 after 99 days of the shortest steps; a copy that waits for
///          less than half of that is told apart from newer ones all the same.
/// Failure: look() may throw std::bad_alloc.
class AgeMarks {
  public:
    using Time = std::chrono::steady_clock::time_point;
    static constexpr int marks_per_age = 16;
    /// What is old is given up at most three steps too late: until a mark is behind it, which may come one look later
    /// than it is due, and until the next look.
    static constexpr std::chrono::milliseconds step_min{2};

    /// `ticks`: so many have been.
    explicit AgeMarks(std::uint32_t ticks = 0) noexcept : ticks_(ticks) {}

    /// How long after a mark the next is due.
    [[nodiscard]] static std::chrono::milliseconds step(std::chrono::milliseconds age) noexcept {
        return std::max(age / marks_per_age, step_min);
    }
    /// The log ends there now. A mark, when the last one is old enough.
    void look(Time now, std::uint64_t log_position, std::chrono::milliseconds age) {
        if (marks_.empty() || now - marks_.back().time >= step(age)) {
            ticks_ = tick();
            marks_.push_back({now, log_position, ticks_});
        }
        while (marks_.size() > 1 && marks_[1].time <= now - age) {
            marks_.pop_front();  // the one behind it tells the same, and more
        }
    }
    /// Of what is published now. Never 0.
    [[nodiscard]] std::uint32_t tick() const noexcept { return ticks_ == UINT32_MAX ? 1 : ticks_ + 1; }
    /// Whether a tick is `last` or before it.
    [[nodiscard]] static bool is_up_to(std::uint32_t last, std::uint32_t tick) noexcept {
        return static_cast<std::int32_t>(last - tick) >= 0;
    }
    /// Of what lies at this position.
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
        std::uint32_t up_to_tick = 0;  // 0: nothing is old
    };
    /// What was published before that time.
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
