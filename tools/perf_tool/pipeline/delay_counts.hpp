#pragma once

#include "core/log_steps.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace telegate::perf {

/// A histogram of the delays of samples, in steps of at most 1/64 of the delay; the maximum is exact.
///
/// Threads: one. Limits: 32 KiB; delays from 2^44 ns (five hours) share the last step. Failure: none.
class DelayCounts {
  public:
    DelayCounts() : counts_(steps) {}

    void add(std::int64_t ns, std::uint64_t samples) noexcept {
        const auto time = static_cast<std::uint64_t>(std::max<std::int64_t>(ns, 0));
        counts_[std::min(Steps::of(time), steps - 1)] += samples;
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

    /// Returns the smallest delay that a share (0 to 1) of the samples does not exceed, rounded up to a step but at
    /// most the maximum; 0 if there are no samples.
    [[nodiscard]] double quantile_us(double share) const noexcept {
        const auto wanted = std::max(1.0, std::ceil(share * static_cast<double>(total_)));
        std::uint64_t seen = 0;
        for (std::size_t step = 0; step < steps && total_ > 0; ++step) {
            seen += counts_[step];
            if (static_cast<double>(seen) >= wanted) {
                return static_cast<double>(std::min(Steps::last_of(step), maximum_ns_)) / 1'000;
            }
        }
        return maximum_us();
    }

  private:
    using Steps = LogSteps<6>;                              // 64 steps per power of two
    static constexpr std::size_t steps = Steps::count(44);  // 2^44 ns

    std::vector<std::uint64_t> counts_;
    std::uint64_t total_ = 0;
    std::uint64_t maximum_ns_ = 0;
};

}  // namespace telegate::perf
