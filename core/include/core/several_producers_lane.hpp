#pragma once

#include "core/single_producer_lane.hpp"
#include "core/taker_guard.hpp"

#include <concurrentqueue/concurrentqueue.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace telegate {

/// What carries the items of a BoundedQueue with several producers: moodycamel's ConcurrentQueue, and an exact count
/// beside it, of the items ever put in, raised before an item is visible, and of those ever taken, raised after that.
///
/// Threads: put(), fill(), take_oldest() and the observers any; take() one consumer.
/// Limits:  put() never makes it more than `capacity`, not even for a moment.
/// Failure: the constructor throws std::bad_alloc; put() and fill() tell of it.
template <class T>
class SeveralProducersLane {
  public:
    explicit SeveralProducersLane(std::size_t capacity) : items_(capacity + spare_items), consumer_token_(items_) {}

    /// As many of `items` as there is room for.
    Entered put(std::span<const T> items, std::size_t capacity) noexcept {
        const std::size_t room = reserve(items.size(), capacity);
        return room > 0 ? fill(items.first(room), capacity) : Entered{};
    }

    /// `items` in room that is already counted in tail_.
    Entered fill(std::span<const T> items, std::size_t) noexcept {
        const bool entered = items.size() == 1 ? items_.enqueue(items.front())
                                               : items_.enqueue_bulk(items.data(), items.size());  // all or none
        if (!entered) {
            tail_.fetch_sub(items.size());
            return {0, true};
        }
        return {items.size(), false};
    }

    /// The oldest items, up to out.size(); they stay counted, for fill(). None when they are between two hands: just
    /// popped, or reserved and not yet filled.
    std::size_t take_oldest(std::span<T> out, std::size_t) noexcept { return evict(out); }

    [[gnu::noinline]] std::size_t take(std::span<T> out) noexcept {
        const std::size_t taken = consume(out);
        if (taken > 0) {
            // Only now may a producer use the room.
            head_.store(head_.load(std::memory_order_relaxed) + taken, std::memory_order_release);
        }
        return taken;
    }

    [[nodiscard]] std::size_t size() const noexcept { return exact_size(head_, tail_); }
    [[nodiscard]] bool is_full(std::size_t capacity) const noexcept { return size() >= capacity; }
    [[nodiscard]] std::size_t high_water() const noexcept { return high_water_.load(std::memory_order_relaxed); }

  private:
    /// A block costs atomic operations on both sides, so larger ones than it has by itself.
    struct Traits : moodycamel::ConcurrentQueueDefaultTraits {
        static constexpr std::size_t BLOCK_SIZE = SingleProducerLane<T>::block_items;
    };
    static constexpr std::size_t spare_items = 4 * Traits::BLOCK_SIZE;

    /// Takes room for up to `wanted` items. A compare-exchange, so that there is never more than `capacity`.
    std::size_t reserve(std::size_t wanted, std::size_t capacity) noexcept {
        const std::size_t limit = std::min(capacity, high_water_.load(std::memory_order_relaxed));
        std::uint64_t head = head_seen_.load(std::memory_order_acquire);
        std::uint64_t tail = tail_.load(std::memory_order_acquire);  // after the head, so not behind it
        for (;;) {
            const auto used = static_cast<std::size_t>(tail - head);
            if (used + wanted > limit) {
                if (const std::uint64_t now = head_.load(std::memory_order_acquire); now != head) {
                    head = now;
                    head_seen_.store(head, std::memory_order_release);
                    tail = tail_.load(std::memory_order_acquire);
                    continue;
                }
                if (used >= capacity) {
                    return 0;  // the head stood still, so it was full when the tail was read
                }
            }
            const std::size_t room = std::min(wanted, capacity - used);
            if (tail_.compare_exchange_weak(tail, tail + room)) {
                raise_high_water(used + room);
                return room;
            }
        }
    }

    std::size_t consume(std::span<T> out) noexcept {
        const TakerGuard::Consumer consumer(guard_);
        return dequeue(out);
    }
    std::size_t evict(std::span<T> out) noexcept {
        const TakerGuard::Evictor evictor(guard_);
        return dequeue(out);
    }

    /// One taker at a time: the queue inside hands an emptied block back to its producer without ordering the reads of
    /// all who emptied it before the next write.
    std::size_t dequeue(std::span<T> out) noexcept {
        if (out.size() == 1) {
            return items_.try_dequeue(consumer_token_, out.front()) ? 1 : 0;  // half the time of one in bulk
        }
        return items_.try_dequeue_bulk(consumer_token_, out.data(), out.size());
    }

    void raise_high_water(std::size_t size) noexcept {
        std::size_t seen = high_water_.load(std::memory_order_relaxed);
        while (size > seen && !high_water_.compare_exchange_weak(seen, size, std::memory_order_relaxed)) {
        }
    }

    alignas(64) std::atomic<std::uint64_t> tail_{0};  // items ever put in, raised before they are visible
    std::atomic<std::uint64_t> head_seen_{0};         // by a producer that had to look
    std::atomic<std::size_t> high_water_{0};
    alignas(64) std::atomic<std::uint64_t> head_{0};  // items ever taken, by the consumer; what gave way was replaced
    alignas(64) TakerGuard guard_;
    alignas(64)
        moodycamel::ConcurrentQueue<T, Traits> items_;  // bounded by blocks, not items, so only the count is exact
    moodycamel::ConsumerToken consumer_token_;          // used by whoever takes
};

}  // namespace telegate
