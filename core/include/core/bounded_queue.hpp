#pragma once

#include "core/assert.hpp"
#include "core/short_wait.hpp"

#include <concurrentqueue/concurrentqueue.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

namespace telegate {

/// What a full queue does with a new item.
enum class OverflowPolicy : std::uint8_t {
    drop_oldest,  // the oldest item gives way: the newest data is worth most
    drop_newest,  // the new item is refused
    block,        // the producer waits for room, or for close()
};

[[nodiscard]] std::string_view to_string(OverflowPolicy policy) noexcept;

/// What became of an item that did not stay in the queue.
enum class QueueLoss : std::uint8_t { evicted, refused, closed };

/// The crossing between the sampling threads and the io thread.
///
/// Threads: push(), size() and the other observers, resize(), close() any; pop() one consumer.
/// Limits:  never more than capacity() items, exactly; after a resize() below size(), none enters without one leaving
///          until the consumer has caught up. Items of one producer keep their order.
/// Failure: the constructor and resize() may throw std::bad_alloc. Every item that is not handed to the consumer is
///          given to the producer's `on_loss` and counted in lost().
template <class T>
class BoundedQueue {
    static_assert(std::is_trivially_copyable_v<T>, "items are copied as bytes and dropped without a destructor");

  public:
    static constexpr std::size_t capacity_max = 1'048'576;
    /// Items that a producer with drop_oldest takes out at once.
    static constexpr std::size_t evict_items_max = 32;

    explicit BoundedQueue(std::size_t capacity, OverflowPolicy policy = OverflowPolicy::drop_oldest)
        : capacity_(capacity), policy_(policy), items_(capacity + spare_items), consumer_token_(items_) {
        TELEGATE_ASSERT(capacity >= 1 && capacity <= capacity_max);
    }

    /// Offers `items` in order. `on_loss(const T&, QueueLoss)` is called in this thread for each item that is lost:
    /// with drop_oldest those are older items, possibly of another producer.
    template <class OnLoss>
    void push(std::span<const T> items, OnLoss&& on_loss) {
        ShortWait wait;
        while (!items.empty()) {
            if (closed_.load(std::memory_order_acquire)) {
                return lose(items, QueueLoss::closed, on_loss);
            }
            if (const std::size_t room = reserve(items.size()); room > 0) {
                enqueue(items.first(room), on_loss);
                items = items.subspan(room);
                continue;
            }
            switch (policy_.load(std::memory_order_relaxed)) {
                case OverflowPolicy::drop_newest: return lose(items, QueueLoss::refused, on_loss);
                case OverflowPolicy::drop_oldest: items = items.subspan(replace_oldest(items, on_loss, wait)); break;
                case OverflowPolicy::block: wait_for_room(); break;
            }
        }
    }

    template <class OnLoss>
    void push(const T& item, OnLoss&& on_loss) {
        push(std::span<const T>(&item, 1), on_loss);
    }

    /// Moves up to out.size() items to `out`, oldest first per producer. Returns how many.
    std::size_t pop(std::span<T> out) noexcept {
        const std::size_t taken = take(out);
        if (taken > 0) {
            size_.fetch_sub(taken);  // only now may a producer use the room
            signal_room();
        }
        return taken;
    }

    /// From now on every push is refused and every waiting producer returns. What is inside stays for the consumer.
    void close() noexcept {
        closed_.store(true, std::memory_order_release);
        signal_room();
    }

    /// Takes effect at once and loses nothing. `capacity` is 1 to capacity_max.
    void resize(std::size_t capacity) noexcept {
        TELEGATE_ASSERT(capacity >= 1 && capacity <= capacity_max);
        capacity_.store(capacity);
        signal_room();
    }
    void set_policy(OverflowPolicy policy) noexcept {
        policy_.store(policy);
        signal_room();
    }

    [[nodiscard]] std::size_t size() const noexcept { return size_.load(); }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_.load(); }
    [[nodiscard]] OverflowPolicy policy() const noexcept { return policy_.load(); }
    /// The largest size() there has been.
    [[nodiscard]] std::size_t high_water() const noexcept { return high_water_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

  private:
    static constexpr std::size_t spare_items = 4 * moodycamel::ConcurrentQueueDefaultTraits::BLOCK_SIZE;

    /// Takes room for up to `wanted` items. A compare-exchange, so that size_ never passes the limit even for a moment.
    std::size_t reserve(std::size_t wanted) noexcept {
        std::size_t size = size_.load(std::memory_order_relaxed);
        for (;;) {
            const std::size_t limit = capacity_.load(std::memory_order_relaxed);
            if (size >= limit) {
                return 0;
            }
            const std::size_t room = std::min(wanted, limit - size);
            if (size_.compare_exchange_weak(size, size + room)) {
                raise_high_water(size + room);
                return room;
            }
        }
    }

    /// Puts items into room that is already counted in size_.
    template <class OnLoss>
    void enqueue(std::span<const T> items, OnLoss&& on_loss) {
        if (!items_.enqueue_bulk(items.data(), items.size())) {  // out of memory: all or none
            size_.fetch_sub(items.size());
            lose(items, QueueLoss::refused, on_loss);
        }
    }

    template <class OnLoss>
    std::size_t replace_oldest(std::span<const T> items, OnLoss&& on_loss, ShortWait& wait) {
        std::array<T, evict_items_max> oldest;
        const std::size_t wanted = std::min(items.size(), oldest.size());
        const std::size_t evicted = take(std::span<T>(oldest).first(wanted));
        if (evicted == 0) {
            wait.once();  // the room is between two hands: just popped, or reserved and not yet filled
            return 0;
        }
        lose(std::span<const T>(oldest).first(evicted), QueueLoss::evicted, on_loss);
        enqueue(items.first(evicted), on_loss);
        return evicted;
    }

    /// One taker at a time: the queue inside hands an emptied block back to its producer without ordering the reads of
    /// all who emptied it before the next write. A few items per turn, so a short wait.
    std::size_t take(std::span<T> out) noexcept {
        ShortWait wait;
        while (taking_.test_and_set(std::memory_order_acquire)) {
            wait.once();
        }
        const std::size_t taken = items_.try_dequeue_bulk(consumer_token_, out.data(), out.size());
        taking_.clear(std::memory_order_release);
        return taken;
    }

    template <class OnLoss>
    void lose(std::span<const T> items, QueueLoss loss, OnLoss&& on_loss) {
        lost_.fetch_add(items.size(), std::memory_order_relaxed);
        for (const T& item : items) {
            on_loss(item, loss);
        }
    }

    void wait_for_room() noexcept {
        waiting_.fetch_add(1);
        const std::uint32_t epoch = room_epoch_.load();
        // Looked at again after waiting_ is visible: either we see the room or signal_room() sees us.
        if (size_.load() >= capacity_.load() && !closed_.load() && policy_.load() == OverflowPolicy::block) {
            room_epoch_.wait(epoch);
        }
        waiting_.fetch_sub(1);
    }

    void signal_room() noexcept {
        if (waiting_.load() > 0) {
            room_epoch_.fetch_add(1);
            room_epoch_.notify_all();
        }
    }

    void raise_high_water(std::size_t size) noexcept {
        std::size_t seen = high_water_.load(std::memory_order_relaxed);
        while (size > seen && !high_water_.compare_exchange_weak(seen, size, std::memory_order_relaxed)) {
        }
    }

    std::atomic<std::size_t> capacity_;
    std::atomic<OverflowPolicy> policy_;
    std::atomic<bool> closed_{false};
    alignas(64) std::atomic<std::size_t> size_{0};  // raised before an item is visible, lowered after it is taken
    std::atomic<std::size_t> high_water_{0};
    std::atomic<std::uint64_t> lost_{0};
    std::atomic<std::uint32_t> waiting_{0};
    std::atomic<std::uint32_t> room_epoch_{0};
    std::atomic_flag taking_;
    moodycamel::ConcurrentQueue<T> items_;      // bounded by blocks, not items, so only size_ enforces the limit
    moodycamel::ConsumerToken consumer_token_;  // used by whoever holds taking_
};

}  // namespace telegate
