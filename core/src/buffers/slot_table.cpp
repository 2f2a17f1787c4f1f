#include "buffers/slot_table.hpp"

#include "core/assert.hpp"

#include <bit>
#include <utility>

namespace telegate {

namespace {

constexpr std::size_t capacity_max = std::size_t{1} << 31U;

}  // namespace

void SlotTable::reserve_one() {
    if (4 * (size_ + 1) <= 3 * capacity_) {
        return;
    }
    const std::size_t capacity = capacity_ == 0 ? capacity_min : 2 * capacity_;
    TELEGATE_ASSERT(capacity <= capacity_max);
    move_to(PageArray<Slot>(capacity), capacity);
}

void SlotTable::insert(std::uint32_t hash, std::uint32_t item) noexcept {
    std::size_t at = home(hash);
    while (slots_[at].item != none) {
        at = after(at);
    }
    slots_[at] = {hash, item};
    ++size_;
}

void SlotTable::erase(std::uint32_t hash, std::uint32_t item) noexcept {
    std::size_t hole = home(hash);
    while (slots_[hole].item != item) {
        hole = after(hole);
    }
    // Move later items of the probe sequence into the hole, so that no search ends too early.
    for (std::size_t at = after(hole); slots_[at].item != none; at = after(at)) {
        const std::size_t pushed = (at - home(slots_[at].hash)) & (capacity_ - 1);
        if (pushed >= ((at - hole) & (capacity_ - 1))) {
            slots_[hole] = slots_[at];
            hole = at;
        }
    }
    slots_[hole] = {};
    --size_;
    if (8 * size_ < capacity_ && capacity_ > capacity_min) {
        shrink();
    }
}

void SlotTable::shrink() noexcept {
    const std::size_t capacity = capacity_ / 2;
    move_to(PageArray<Slot>(capacity), capacity);
}

void SlotTable::move_to(PageArray<Slot> slots, std::size_t capacity) noexcept {
    const PageArray<Slot> old = std::exchange(slots_, std::move(slots));
    const std::size_t old_capacity = std::exchange(capacity_, capacity);
    shift_ = 32U - static_cast<unsigned>(std::countr_zero(capacity));
    size_ = 0;
    for (std::size_t at = 0; at < old_capacity; ++at) {
        if (old[at].item != none) {
            insert(old[at].hash, old[at].item);
        }
    }
}

}  // namespace telegate
