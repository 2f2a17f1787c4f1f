#include "core/drop_record.hpp"

#include <thread>

namespace telegate {

ChannelDrops& ChannelDrops::operator+=(const ChannelDrops& other) noexcept {
    if (other.count == 0) {
        return *this;
    }
    if (count == 0 || other.first_seq < first_seq) {
        first_seq = other.first_seq;
        first_utc_ns = other.first_utc_ns;
    }
    if (count == 0 || other.last_seq > last_seq) {
        last_seq = other.last_seq;
        last_utc_ns = other.last_utc_ns;
    }
    count += other.count;
    return *this;
}

void DropRecord::add(const TelemetrySample& sample) noexcept {
    const std::uint64_t version = version_.load(std::memory_order_relaxed);
    const std::uint64_t count = count_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);
    // Release on every field: whoever reads a new one also sees that a change is in progress.
    count_.store(count + 1, std::memory_order_release);
    if (count == 0) {
        first_seq_.store(sample.seq, std::memory_order_release);
        first_utc_ns_.store(sample.time_utc_ns, std::memory_order_release);
    }
    last_seq_.store(sample.seq, std::memory_order_release);
    last_utc_ns_.store(sample.time_utc_ns, std::memory_order_release);
    version_.store(version + 2, std::memory_order_release);
}

ChannelDrops DropRecord::read() const noexcept {
    for (;;) {
        const std::uint64_t before = version_.load(std::memory_order_acquire);
        if (before % 2 == 0) {
            ChannelDrops drops;
            drops.count = count_.load(std::memory_order_acquire);
            drops.first_seq = first_seq_.load(std::memory_order_acquire);
            drops.last_seq = last_seq_.load(std::memory_order_acquire);
            drops.first_utc_ns = first_utc_ns_.load(std::memory_order_acquire);
            drops.last_utc_ns = last_utc_ns_.load(std::memory_order_acquire);
            // The acquiring loads keep this one behind them.
            if (version_.load(std::memory_order_relaxed) == before) {
                return drops;
            }
        }
        std::this_thread::yield();
    }
}

}  // namespace telegate
