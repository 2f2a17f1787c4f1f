#include "core/histogram.hpp"

#include <algorithm>
#include <cmath>

namespace telegate {

// Below 2^steps_bits a bucket holds one value. Above, the highest set bit chooses the power and the next steps_bits
// bits the step within it.
std::size_t DurationHistogram::bucket_of(std::uint64_t ns) noexcept {
    if (ns < (1U << steps_bits)) {
        return static_cast<std::size_t>(ns);
    }
    const auto power = static_cast<unsigned>(std::bit_width(ns)) - 1;
    const std::size_t step = static_cast<std::size_t>(ns >> (power - steps_bits)) & ((1U << steps_bits) - 1);
    const std::size_t bucket = (static_cast<std::size_t>(power - steps_bits + 1) << steps_bits) + step;
    return std::min(bucket, buckets - 1);
}

std::uint64_t DurationHistogram::upper_bound_of(std::size_t bucket) noexcept {
    if (bucket < (1U << steps_bits)) {
        return bucket;
    }
    const std::size_t shift = (bucket >> steps_bits) - 1;
    const std::uint64_t step = (bucket & ((1U << steps_bits) - 1)) + (1U << steps_bits);
    return ((step + 1) << shift) - 1;
}

void DurationHistogram::record(std::chrono::nanoseconds duration) noexcept {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(duration.count(), 0));
    auto& count = counts_[bucket_of(ns)];
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
            const std::uint64_t bound = bucket + 1 == buckets ? UINT64_MAX : upper_bound_of(bucket);
            return std::min(
                std::chrono::nanoseconds(static_cast<std::int64_t>(std::min<std::uint64_t>(bound, INT64_MAX))),
                maximum());
        }
    }
    return std::chrono::nanoseconds(0);
}

}  // namespace telegate
