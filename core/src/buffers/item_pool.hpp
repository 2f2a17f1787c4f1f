#pragma once

#include "buffers/page_array.hpp"

#include "core/page_size.hpp"

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace telegate {

/// Items of one size, allocated in chunks and addressed by number. A number stays the same until its item is given
/// back; then it is reused. T has a member `next` of type std::uint32_t, which the pool uses while the item is free.
///
/// Threads: one.
/// Limits: 2^32 - 1 items. A chunk without live items is returned to the system if at least as many free items remain
/// in other chunks.
/// Failure: reserve() may throw std::bad_alloc without visible effect; nothing else can fail.
template <class T>
class ItemPool {
  public:
    static_assert(std::is_trivially_copyable_v<T>);

    /// A number that no item has.
    static constexpr std::uint32_t none = 0;

    /// Ensures that the next `count` calls of allocate() succeed.
    void reserve(std::size_t count) {
        while (available_ < count) {
            add_chunk();
        }
    }

    /// Returns a free item, which reserve() has provided. Its content is unspecified.
    [[nodiscard]] std::uint32_t allocate() noexcept {
        while (!chunks_[with_room_.back()].has_room()) {
            chunks_[with_room_.back()].listed = false;
            with_room_.pop_back();
        }
        const std::uint32_t number = with_room_.back();
        Chunk& chunk = chunks_[number];
        --available_;
        ++chunk.live;
        if (chunk.free == none) {
            return number * chunk_items + ++chunk.used;
        }
        const std::uint32_t item = chunk.free;
        chunk.free = (*this)[item].next;
        return item;
    }

    void release(std::uint32_t item) noexcept {
        const std::uint32_t number = (item - 1) / chunk_items;
        Chunk& chunk = chunks_[number];
        (*this)[item].next = chunk.free;
        chunk.free = item;
        --chunk.live;
        ++available_;
        if (!chunk.listed) {
            chunk.listed = true;
            with_room_.push_back(number);
        }
        if (chunk.live == 0 && available_ >= 2 * chunk_items) {
            drop_chunk(number);
        }
    }

    [[nodiscard]] T& operator[](std::uint32_t item) noexcept {
        return chunks_[(item - 1) / chunk_items].items[(item - 1) % chunk_items];
    }
    [[nodiscard]] const T& operator[](std::uint32_t item) const noexcept {
        return chunks_[(item - 1) / chunk_items].items[(item - 1) % chunk_items];
    }

    [[nodiscard]] std::size_t memory_bytes() const noexcept {
        const std::size_t allocated = chunks_.size() - dropped_.size();
        return allocated * whole_pages(chunk_items * sizeof(T)) + chunks_.capacity() * sizeof(Chunk) +
               (with_room_.capacity() + dropped_.capacity()) * sizeof(std::uint32_t);
    }

  private:
    static constexpr std::uint32_t chunk_items = 1'024;

    struct Chunk {
        PageArray<T> items;         // empty: chunk was dropped
        std::uint32_t free = none;  // first item that was returned
        std::uint32_t used = 0;     // items from here on were never allocated
        std::uint32_t live = 0;
        bool listed = false;  // is in with_room_

        [[nodiscard]] bool has_room() const noexcept { return !items.empty() && live < chunk_items; }
    };

    void add_chunk() {
        if (dropped_.empty()) {
            // Grow the lists first, so that allocate() and release() never allocate.
            const std::size_t count = chunks_.size() + 1;
            if (with_room_.capacity() < count || dropped_.capacity() < count) {
                with_room_.reserve(2 * count);
                dropped_.reserve(2 * count);
            }
            chunks_.reserve(chunks_.size() < chunks_.capacity() ? 0 : 2 * count);
            chunks_.emplace_back();
            dropped_.push_back(static_cast<std::uint32_t>(chunks_.size() - 1));
        }
        const std::uint32_t number = dropped_.back();
        Chunk& chunk = chunks_[number];
        chunk.items = PageArray<T>(chunk_items);
        dropped_.pop_back();
        available_ += chunk_items;
        if (!chunk.listed) {
            chunk.listed = true;
            with_room_.push_back(number);
        }
    }

    void drop_chunk(std::uint32_t number) noexcept {
        Chunk& chunk = chunks_[number];
        chunk.items = {};
        chunk.free = none;
        chunk.used = 0;
        available_ -= chunk_items;
        dropped_.push_back(number);
    }

    std::vector<Chunk> chunks_;
    std::vector<std::uint32_t> with_room_;  // every chunk with free items, and some that are full or dropped
    std::vector<std::uint32_t> dropped_;    // chunks without memory
    std::size_t available_ = 0;             // number of free items
};

}  // namespace telegate
