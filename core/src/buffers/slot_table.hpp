#pragma once

#include "buffers/page_array.hpp"

#include <cstddef>
#include <cstdint>

namespace telegate {

/// A hash table of item numbers; the caller compares the items. Open addressing, 8 bytes per slot.
///
/// Threads: one.
/// Limits: 2^31 slots; from 1/8 to 3/4 of them are in use. Growing and shrinking move all items at once, which takes a
/// few milliseconds for a million.
/// Failure: reserve_one() may throw std::bad_alloc, changing nothing; nothing else can fail.
class SlotTable {
  public:
    /// A number that no item has.
    static constexpr std::uint32_t none = 0;

    /// Ensures that the next insert() succeeds.
    void reserve_one();
    /// Inserts an item that is not in the table. Requires reserve_one().
    void insert(std::uint32_t hash, std::uint32_t item) noexcept;
    /// Erases an item that is in the table.
    void erase(std::uint32_t hash, std::uint32_t item) noexcept;

    /// Returns the item of this hash for which `same(item)` is true, or none.
    template <class Same>
    [[nodiscard]] std::uint32_t find(std::uint32_t hash, const Same& same) const noexcept {
        if (size_ == 0) {
            return none;
        }
        for (std::size_t at = home(hash); slots_[at].item != none; at = after(at)) {
            if (slots_[at].hash == hash && same(slots_[at].item)) {
                return slots_[at].item;
            }
        }
        return none;
    }

    template <class Each>
    void for_each(const Each& each) const {
        for (std::size_t at = 0; at < capacity_; ++at) {
            if (slots_[at].item != none) {
                each(slots_[at].item);
            }
        }
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] std::size_t memory_bytes() const noexcept { return slots_.memory_bytes(); }

  private:
    struct Slot {
        std::uint32_t hash;
        std::uint32_t item;
    };
    static constexpr std::size_t capacity_min = 512;

    // Uses the upper bits, so that items keep their order when the table doubles, and moving them accesses memory in
    // order.
    [[nodiscard]] std::size_t home(std::uint32_t hash) const noexcept { return hash >> shift_; }
    [[nodiscard]] std::size_t after(std::size_t at) const noexcept { return (at + 1) & (capacity_ - 1); }
    void move_to(PageArray<Slot> slots, std::size_t capacity) noexcept;
    void shrink() noexcept;

    PageArray<Slot> slots_;     // zero: empty slot
    std::size_t capacity_ = 0;  // a power of two, or 0
    unsigned shift_ = 0;        // 32 minus the capacity's bits
    std::size_t size_ = 0;
};

}  // namespace telegate
