#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace telegate::perf {

/// How many samples took how long, in steps of at most 1/64 of the time; the maximum is exact.
///
/// Threads: one. Limits: 32 KiB, whatever is added; times from 2^44 ns, five hours, share the last step. Failure: none.
class DelayCounts {
  public:
    DelayCounts() : counts_(steps) {}

    void add(std::int64_t ns, std::uint64_t samples) noexcept {
        const auto time = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
        counts_[std::min(step_of(time), steps - 1)] += samples;
        total_ += samples;
        maximum_ns_ = std::max(maximum_ns_, time);
    }

    void add(const DelayCounts& other) noexcept {
        for (std::size_t step = 0; step < steps; ++step) {
            counts_[step] += other.counts_[step];
        }
        total_ += other.total_;
        maximum_ns_ = std::max(maximum_ns_, other.maximum_ns_);
    }

    [[nodiscard]] std::uint64_t samples() const noexcept { return total_; }
    [[nodiscard]] double maximum_us() const noexcept { return static_cast<double>(maximum_ns_) / 1'000; }

    /// The least time that the given share (0 to 1) of the samples are not above, to a step's precision and never above
    /// the maximum; zero when there are none.
    [[nodiscard]] double quantile_us(double share) const noexcept {
        const auto wanted = std::max(1.0, std::ceil(share * static_cast<double>(total_)));
        std::uint64_t seen = 0;
        for (std::size_t step = 0; step < steps && total_ > 0; ++step) {
            seen += counts_[step];
            if (static_cast<double>(seen) >= wanted) {
                return static_cast<double>(std::min(last_of(step), maximum_ns_)) / 1'000;
            }
        }
        return maximum_us();
    }

  private:
    static constexpr unsigned step_bits = 6;  // 64 steps between two powers of two
    static constexpr unsigned powers = 44;
    static constexpr std::size_t steps = (powers - step_bits + 1) << step_bits;

    [[nodiscard]] static std::size_t step_of(std::uint64_t ns) noexcept {
        if (ns < (1U << step_bits)) {
            return static_cast<std::size_t>(ns);
        }
        const auto shift = static_cast<unsigned>(std::bit_width(ns)) - 1 - step_bits;
        return (static_cast<std::size_t>(shift) << step_bits) + static_cast<std::size_t>(ns >> shift);
    }
    [[nodiscard]] static std::uint64_t last_of(std::size_t step) noexcept {
        if (step < (2U << step_bits)) {
            return step;
        }
        const std::size_t shift = (step >> step_bits) - 1;
        const std::uint64_t within = (step & ((1U << step_bits) - 1)) + (1U << step_bits);
        return ((within + 1) << shift) - 1;
    }

    std::vector<std::uint64_t> counts_;
    std::uint64_t total_ = 0;
    std::uint64_t maximum_ns_ = 0;
};

}  // namespace telegate::perf
