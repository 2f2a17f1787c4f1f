#include "core/counter_page.hpp"

#include "core/assert.hpp"

#include <thread>

namespace telegate {

CounterPage::CounterPage(std::size_t cells)
    : size_(cells), cells_(std::make_unique<std::atomic<std::uint64_t>[]>(cells)) {}

void CounterPage::copy(std::span<std::uint64_t> out) const noexcept {
    TELEGATE_ASSERT(out.size() <= size_);
    for (;;) {
        const std::uint64_t before = version_.load(std::memory_order_acquire);
        if (before % 2 == 0) {
            for (std::size_t i = 0; i < out.size(); ++i) {
                out[i] = cells_[i].load(std::memory_order_acquire);
            }
            // The acquiring loads keep this one behind them, and whoever saw a newer cell sees its version here.
            if (version_.load(std::memory_order_relaxed) == before) {
                return;
            }
        }
        std::this_thread::yield();
    }
}

}  // namespace telegate
