#pragma once

#include "core/assert.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace telegate::perf {

/// When each sample of a run was captured: one entry per tick of the driver, looked up by the number of the sample. So
/// a delay needs no time on the wire, and is the same in every payload format.
///
/// Threads: add() one; a Reader belongs to one thread each.
/// Limits:  as many entries as it is made with, 16 bytes each.
/// Failure: the constructor may throw std::bad_alloc; add() when full() is a mistake of the caller.
class CaptureTimes {
  public:
    explicit CaptureTimes(std::size_t ticks) : ticks_(ticks) {}

    [[nodiscard]] bool full() const noexcept { return count_.load(std::memory_order_relaxed) == ticks_.size(); }

    /// From the sample with this number on, counted from 0, samples are captured at this time.
    void add(std::uint64_t first_sample, std::int64_t mono_ns) noexcept {
        const std::size_t count = count_.load(std::memory_order_relaxed);
        TELEGATE_ASSERT(count < ticks_.size());
        ticks_[count] = {first_sample, mono_ns};
        count_.store(count + 1, std::memory_order_release);  // an entry is whole before a reader can see it
    }

    /// Looks up samples that come in about the order of their numbers.
    class Reader {
      public:
        explicit Reader(const CaptureTimes& times) : times_(times) {}

        /// The tick of a sample that has been captured.
        [[nodiscard]] std::size_t tick_of(std::uint64_t sample) noexcept {
            while (tick_ > 0 && times_.ticks_[tick_].first_sample > sample) {
                --tick_;
            }
            while (tick_ + 1 < known() && times_.ticks_[tick_ + 1].first_sample <= sample) {
                ++tick_;
            }
            return tick_;
        }
        [[nodiscard]] std::int64_t mono_ns(std::size_t tick) const noexcept { return times_.ticks_[tick].mono_ns; }

      private:
        /// Entries that may be read; loads what another thread writes only when it must.
        [[nodiscard]] std::size_t known() noexcept {
            if (tick_ + 1 >= known_) {
                known_ = times_.count_.load(std::memory_order_acquire);
            }
            return known_;
        }

        const CaptureTimes& times_;
        std::size_t tick_ = 0;
        std::size_t known_ = 0;
    };

  private:
    struct Tick {
        std::uint64_t first_sample = 0;
        std::int64_t mono_ns = 0;
    };

    std::vector<Tick> ticks_;
    std::atomic<std::size_t> count_{0};
};

}  // namespace telegate::perf
