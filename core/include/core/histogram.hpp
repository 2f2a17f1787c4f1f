#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace telegate {

/// Divides whole numbers into steps whose width is at most 1/2^bits of the number. Below 2^bits, a step holds one
/// number. Above, the highest set bit selects the power of two, and the next `bits` bits select the step within it.
///
/// Threads: any. Limits: none. Failure: none.
template <unsigned bits>
struct LogSteps {
    /// Returns the number of steps for the numbers below 2^powers.
    [[nodiscard]] static constexpr std::size_t count(unsigned powers) noexcept {
        return static_cast<std::size_t>(powers - bits + 1) << bits;
    }
    [[nodiscard]] static std::size_t of(std::uint64_t number) noexcept {
        if (number < one) {
            return static_cast<std::size_t>(number);
        }
        const auto shift = static_cast<unsigned>(std::bit_width(number)) - 1 - bits;
        return (static_cast<std::size_t>(shift) << bits) + static_cast<std::size_t>(number >> shift);
    }
    /// Returns the largest number in a step.
    [[nodiscard]] static std::uint64_t last_of(std::size_t step) noexcept {
        if (step < one) {
            return step;
        }
        const std::size_t shift = (step >> bits) - 1;
        return (((step & (one - 1)) + one + 1) << shift) - 1;
    }

  private:
    static constexpr std::uint64_t one = std::uint64_t{1} << bits;
};

/// A histogram of durations, in buckets whose width is at most 1/16 of their value.
///
/// Threads: record(): one writer. All others: any; they read the current value of each bucket.
/// Limits: 0 ns to about 18 minutes; longer durations count in the last bucket, and maximum() stays exact. 5 KiB,
/// fixed.
/// Failure: none.
class DurationHistogram {
  public:
    void record(std::chrono::nanoseconds duration) noexcept;

    [[nodiscard]] std::uint64_t count() const noexcept;
    [[nodiscard]] std::chrono::nanoseconds maximum() const noexcept;
    /// Returns an upper bound of the given share (0 to 1) of the durations, never above maximum(). Returns zero if
    /// there are none.
    [[nodiscard]] std::chrono::nanoseconds quantile(double share) const noexcept;

  private:
    using Steps = LogSteps<4>;                                // 16 steps per power of two
    static constexpr std::size_t buckets = Steps::count(40);  // 2^40 ns

    std::array<std::atomic<std::uint64_t>, buckets> counts_{};
    std::atomic<std::uint64_t> maximum_ns_{0};
};

}  // namespace telegate
