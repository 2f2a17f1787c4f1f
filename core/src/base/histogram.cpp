#include "core/histogram.hpp"

#include <algorithm>
#include <cmath>

namespace telegate {

void DurationHistogram::record(std::chrono::nanoseconds duration) noexcept {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0));
    auto& count = counts_[std::min(Steps::of(ns), buckets - 1)];
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (ns > maximum_ns_.load(std::memory_order_relaxed)) {
        maximum_ns_.store(ns, std::memory_order_relaxed);
    }
}

std::uint64_t DurationHistogram::count() const noexcept {
    std::uint64_t total = 0;
    for (const auto& count : counts_) {
        total += count.load(std::memory_order_relaxed);
    }
    return total;
}

std::chrono::nanoseconds DurationHistogram::maximum() const noexcept {
    return std::chrono::nanoseconds(maximum_ns_.load(std::memory_order_relaxed));
}

std::chrono::nanoseconds DurationHistogram::quantile(double share) const noexcept {
    const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count())));
    std::uint64_t seen = 0;
    for (std::size_t bucket = 0; bucket < buckets; ++bucket) {
        seen += counts_[bucket].load(std::memory_order_relaxed);
        if (seen > 0 && seen >= wanted) {
            const std::uint64_t bound = bucket + 1 == buckets ? UINT64_MAX : Steps::last_of(bucket);
            return std::min(
                std::chrono::nanoseconds(static_cast<std::int64_t>(std::min<std::uint64_t>(bound, INT64_MAX))),
                maximum());
        }
    }
    return std::chrono::nanoseconds(0);
}

}  // namespace telegate
