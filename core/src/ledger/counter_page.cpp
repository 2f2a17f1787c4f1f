#include "core/counter_page.hpp"

#include "core/assert.hpp"

namespace telegate {

CounterPage::CounterPage(std::size_t cells)
    : size_(cells), cells_(std::make_unique<std::atomic<std::uint64_t>[]>(cells)) {}

void CounterPage::copy(std::span<std::uint64_t> out) const noexcept {
    TELEGATE_ASSERT(out.size() <= size_);
    lock_.read([&]() noexcept {
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = cells_[i].load(std::memory_order_acquire);
        }
        return out.size();
    });
}

}  // namespace telegate
