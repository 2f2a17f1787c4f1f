#include "core/channel_progress.hpp"

#include <thread>

namespace telegate {

void ChannelProgress::skip_to(std::uint64_t seq) noexcept {
    const std::uint64_t skips = skips_.load(std::memory_order_relaxed);
    const std::uint64_t missing = missing_.load(std::memory_order_relaxed) + seq - reached();
    skips_.store(skips + 1, std::memory_order_relaxed);
    // Release on both: whoever reads a new one also sees that a skip is in progress.
    missing_.store(missing, std::memory_order_release);
    reached_.store(seq, std::memory_order_release);
    skips_.store(skips + 2, std::memory_order_release);
}

std::uint64_t ChannelProgress::published() const noexcept {
    for (;;) {
        const std::uint64_t before = skips_.load(std::memory_order_acquire);
        if (before % 2 == 0) {
            const std::uint64_t missing = missing_.load(std::memory_order_acquire);
            const std::uint64_t reached = reached_.load(std::memory_order_acquire);
            // The acquiring loads keep this one behind them.
            if (skips_.load(std::memory_order_relaxed) == before) {
                return reached - missing;
            }
        }
        std::this_thread::yield();
    }
}

}  // namespace telegate
