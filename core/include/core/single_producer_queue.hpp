#pragma once

#include "core/taker_guard.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>
#include <utility>

namespace telegate {

/// Returns the exact number of items in one queue or in several: the difference between the tails and the heads (or
/// their sums) at a moment when the heads did not move. If a head moves during every attempt, returns how many of the
/// items of a moment ago are left.
template <class Heads, class Tails>
[[nodiscard]] std::size_t exact_size(const Heads& heads, const Tails& tails) noexcept {
    constexpr int attempts_max = 100;
    std::uint64_t head = heads();
    for (int attempts = 1;; ++attempts) {
        const std::uint64_t tail = tails();
        const std::uint64_t before = std::exchange(head, heads());
        if (head == before || attempts == attempts_max) {
            return tail > head ? static_cast<std::size_t>(tail - head) : 0;
        }
    }
}

/// Carries the items of one producer of a BoundedQueue, in a chain of blocks that are reused. The producer writes at
/// the tail, the taker reads at the head, and each publishes how many items it has ever written or taken. Each reads
/// the other's count only when the remembered count is not sufficient. An item therefore costs no atomic
/// read-modify-write, and a batch costs one fence.
///
/// The tail releases the items and the links to their blocks to the taker that acquires it. An emptied block is
/// released with returned_, before the head is: so a producer that acquires the head finds the blocks of the items that
/// it sees taken. A reader that acquires the tail sees at least the head that the producer saw, so that no size is too
/// large.
///
/// Memory use follows the number of queued items: an emptied block is returned to the producer and written again while
/// it is in the caches. Nothing is allocated once there are as many blocks as the queue has ever needed.
///
/// Threads: put(), fill(), pop_oldest(), is_full(): one producer. pop(), is_empty(): one consumer. All others: any.
/// Limits: put() never exceeds `capacity`. Memory for the blocks of that capacity and two more.
/// Failure: the constructor throws std::bad_alloc. If put() and fill() need memory that is not there, the process ends.
template <class T>
class SingleProducerQueue {
  public:
    /// About 4 KiB per block, so that a gateway with hundreds of queues stays small; larger blocks are not faster.
    static constexpr std::size_t block_items =
        std::clamp(std::bit_floor(4 * 1024 / sizeof(T)), std::size_t{16}, std::size_t{64});

    /// Preallocates `blocks` blocks, if the capacity needs as many. A queue that is read in time allocates no more than
    /// two.
    SingleProducerQueue(std::size_t capacity, std::size_t blocks)
        : SingleProducerQueue(std::make_unique_for_overwrite<Block>()) {
        while (blocks_ < std::min(blocks_max(capacity), blocks)) {
            Block* const block = std::make_unique_for_overwrite<Block>().release();
            block->next = std::exchange(spares_, block);
            ++blocks_;
        }
    }

    ~SingleProducerQueue() {
        tail_block_->next = nullptr;
        for (Block* list : {head_block_, spares_, returned_.load(std::memory_order_acquire)}) {
            while (list != nullptr) {
                delete std::exchange(list, list->next);
            }
        }
    }
    SingleProducerQueue(const SingleProducerQueue&) = delete;
    SingleProducerQueue& operator=(const SingleProducerQueue&) = delete;

    /// Adds one item if that needs neither a read of the head nor another block: the fast path of put().
    [[nodiscard]] bool put_quickly(const T& item, std::size_t capacity) noexcept {
        const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
        const std::uint64_t used = tail - head_seen_;
        const std::size_t offset = tail % block_items;
        if (used >= capacity || used >= high_water_.load(std::memory_order_relaxed) || offset == 0) {
            return false;
        }
        tail_block_->items[offset] = item;
        tail_.store(tail + 1, std::memory_order_release);
        return true;
    }

    /// Adds as many of `items` as fit, and returns how many.
    std::size_t put(std::span<const T> items, std::size_t capacity) noexcept {
        const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
        if (tail - head_seen_ + items.size() > capacity) {
            head_seen_ = head_.load(std::memory_order_acquire);
        }
        const std::uint64_t used = tail - head_seen_;
        const std::size_t room = used < capacity ? capacity - static_cast<std::size_t>(used) : 0;
        return fill(items.first(std::min(items.size(), room)), capacity);
    }

    /// Adds `items` to the space that pop_oldest() has freed, even if the capacity has been reduced since then.
    std::size_t fill(std::span<const T> items, std::size_t capacity) noexcept {
        const std::uint64_t before = tail_.load(std::memory_order_relaxed);
        std::uint64_t tail = before;
        while (!items.empty()) {
            const std::size_t offset = tail % block_items;
            if (offset == 0) {
                open_block(capacity);
            }
            const std::size_t count = std::min(items.size(), block_items - offset);
            std::copy_n(items.data(), count, tail_block_->items.data() + offset);
            items = items.subspan(count);
            tail += count;
        }
        if (tail - head_seen_ > high_water_.load(std::memory_order_relaxed)) {
            raise_high_water(tail);
        }
        tail_.store(tail, std::memory_order_release);
        return static_cast<std::size_t>(tail - before);
    }

    /// Removes the oldest items, up to out.size(), if the queue is full. Removes none if it is no longer full.
    std::size_t pop_oldest(std::span<T> out, std::size_t capacity) noexcept {
        const TakerGuard::Evictor evictor(guard_);
        const std::uint64_t tail = tail_.load(std::memory_order_relaxed);
        evicted_at_ = tail;
        const bool has_room = tail - head_.load(std::memory_order_relaxed) < capacity;
        return has_room ? 0 : pop_from_head(out, tail);
    }

    std::size_t pop(std::span<T> out) noexcept {
        const TakerGuard::Consumer consumer(guard_);
        const std::uint64_t head = head_.load(std::memory_order_relaxed);
        // Negative if the producer has evicted items that the consumer has not seen.
        const auto known = static_cast<std::int64_t>(tail_seen_ - head);
        if (out.size() == 1 && known > 0 && head % block_items != 0) {  // the fast path of pop_from_head()
            out.front() = head_block_->items[head % block_items];
            head_.store(head + 1, std::memory_order_release);
            return 1;
        }
        if (known < static_cast<std::int64_t>(out.size())) {
            tail_seen_ = tail_.load(std::memory_order_acquire);
        }
        return pop_from_head(out, tail_seen_);
    }

    /// Returns how many items were ever added.
    [[nodiscard]] std::uint64_t entered() const noexcept { return tail_.load(std::memory_order_acquire); }
    /// Returns how many items were ever taken, by the consumer or by eviction.
    [[nodiscard]] std::uint64_t left() const noexcept { return head_.load(std::memory_order_acquire); }
    /// A hint for the consumer: the producer may add or replace items at the same time.
    [[nodiscard]] bool is_empty() const noexcept {
        return head_.load(std::memory_order_relaxed) == tail_.load(std::memory_order_acquire);
    }
    [[nodiscard]] std::size_t size() const noexcept {
        return exact_size([this] { return left(); }, [this] { return entered(); });
    }
    /// Exact for the producer.
    [[nodiscard]] bool is_full(std::size_t capacity) const noexcept {
        return tail_.load(std::memory_order_relaxed) - head_.load(std::memory_order_acquire) >= capacity;
    }
    [[nodiscard]] std::size_t high_water() const noexcept {
        return static_cast<std::size_t>(high_water_.load(std::memory_order_relaxed));
    }
    /// Threads: the producer's, or any while the producer is idle.
    [[nodiscard]] std::size_t blocks() const noexcept { return blocks_; }

    /// Returns the number of blocks for `capacity` items: the full blocks, and two more. These are a partly filled
    /// block at each end, or one that is empty and returned with the next item.
    [[nodiscard]] static constexpr std::size_t blocks_max(std::size_t capacity) noexcept {
        return capacity / block_items + 2;
    }

  private:
    struct alignas(64) Block {
        std::array<T, block_items> items;
        Block* next;  // in the chain, or among the spare blocks
    };

    /// After this many items without an eviction, the consumer takes without waiting for a turn again.
    static constexpr std::uint64_t quiet_items = 64 * block_items;

    /// The first block counts as written and taken: both ends move to the next block with the first item.
    explicit SingleProducerQueue(std::unique_ptr<Block> first) noexcept
        : tail_block_(first.get()), head_block_(first.release()) {}

    /// Moves the tail to an empty block.
    void open_block(std::size_t capacity) noexcept {
        if (guard_.evictors_are_here() && tail_.load(std::memory_order_relaxed) - evicted_at_ > quiet_items) {
            guard_.evictors_leave();
        }
        if (spares_ == nullptr) {
            spares_ = returned_.exchange(nullptr, std::memory_order_acquire);
        }
        if (blocks_ > blocks_max(capacity) && spares_ != nullptr && spares_->next != nullptr) {
            // needed for a larger capacity before; freed one at a time to be fast
            delete std::exchange(spares_, spares_->next);
            --blocks_;
        }
        Block* block = spares_;
        if (block != nullptr) {
            spares_ = block->next;
        } else {
            block = std::make_unique_for_overwrite<Block>().release();
            ++blocks_;
        }
        tail_block_->next = block;
        tail_block_ = block;
    }

    /// Called only by the thread that is taking. `tail` is not before the head.
    [[gnu::noinline]] std::size_t pop_from_head(std::span<T> out, std::uint64_t tail) noexcept {
        std::uint64_t head = head_.load(std::memory_order_relaxed);
        const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(out.size(), tail - head));
        for (std::size_t left = taken; left > 0;) {
            const std::size_t offset = head % block_items;
            if (offset == 0) {
                release(std::exchange(head_block_, head_block_->next));
            }
            const std::size_t count = std::min(left, block_items - offset);
            std::copy_n(head_block_->items.data() + offset, count, out.data() + (taken - left));
            head += count;
            left -= count;
        }
        if (taken > 0) {
            head_.store(head, std::memory_order_release);
        }
        return taken;
    }

    /// Returns an emptied block to the producer. Only one thread pushes at a time, and the producer takes all blocks at
    /// once, so a block cannot be removed and pushed again unnoticed (no ABA problem).
    void release(Block* block) noexcept {
        block->next = returned_.load(std::memory_order_relaxed);
        while (!returned_.compare_exchange_weak(block->next, block, std::memory_order_release,
                                                std::memory_order_relaxed)) {
        }
    }

    /// Called before the tail is published, so that size() never exceeds high_water().
    void raise_high_water(std::uint64_t tail) noexcept {
        head_seen_ = head_.load(std::memory_order_acquire);
        if (tail - head_seen_ > high_water_.load(std::memory_order_relaxed)) {
            high_water_.store(tail - head_seen_, std::memory_order_relaxed);
        }
    }

    // Used by the producer.
    alignas(64) std::atomic<std::uint64_t> tail_{0};  // items ever added
    std::uint64_t head_seen_ = 0;
    Block* tail_block_;
    Block* spares_ = nullptr;
    std::size_t blocks_ = 1;
    std::uint64_t evicted_at_ = 0;  // the tail at the last eviction
    std::atomic<std::uint64_t> high_water_{0};
    // Used by the taker.
    alignas(64) std::atomic<std::uint64_t> head_{0};  // items ever taken
    Block* head_block_;
    std::uint64_t tail_seen_ = 0;  // used only by the consumer
    alignas(64) TakerGuard guard_;
    alignas(64) std::atomic<Block*> returned_{nullptr};
};

}  // namespace telegate
