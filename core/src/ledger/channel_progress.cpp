#include "core/channel_progress.hpp"

namespace telegate {

void ChannelProgress::skip_to(std::uint64_t seq) noexcept {
    const std::uint64_t missing = missing_.load(std::memory_order_relaxed) + seq - reached();
    lock_.begin();
    missing_.store(missing, std::memory_order_release);
    reached_.store(seq, std::memory_order_release);
    lock_.commit();
}

std::uint64_t ChannelProgress::published() const noexcept {
    return lock_.read([this]() noexcept {
        const std::uint64_t missing = missing_.load(std::memory_order_acquire);
        return reached_.load(std::memory_order_acquire) - missing;
    });
}

}  // namespace telegate
