#include "core/drop_record.hpp"

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
    const std::uint64_t count = count_.load(std::memory_order_relaxed);
    lock_.begin();
    count_.store(count + 1, std::memory_order_release);
    if (count == 0) {
        first_seq_.store(sample.seq, std::memory_order_release);
        first_utc_ns_.store(sample.time_utc_ns, std::memory_order_release);
    }
    last_seq_.store(sample.seq, std::memory_order_release);
    last_utc_ns_.store(sample.time_utc_ns, std::memory_order_release);
    lock_.commit();
}

ChannelDrops DropRecord::read() const noexcept {
    return lock_.read([this]() noexcept {
        ChannelDrops drops;
        drops.count = count_.load(std::memory_order_acquire);
        drops.first_seq = first_seq_.load(std::memory_order_acquire);
        drops.last_seq = last_seq_.load(std::memory_order_acquire);
        drops.first_utc_ns = first_utc_ns_.load(std::memory_order_acquire);
        drops.last_utc_ns = last_utc_ns_.load(std::memory_order_acquire);
        return drops;
    });
}

}  // namespace telegate
