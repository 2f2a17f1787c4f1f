#pragma once

#include "core/assert.hpp"
#include "core/room_bell.hpp"
#include "core/several_producers_lane.hpp"
#include "core/short_wait.hpp"
#include "core/single_producer_lane.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>

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

/// How many threads push. One is several times faster, and its memory follows what is inside.
enum class Producers : std::uint8_t { one, several };

/// The crossing between the sampling threads and the io thread.
///
/// Threads: push() any, with Producers::one one at a time; the observers, resize(), set_policy(), close() any; pop()
///          one consumer.
/// Limits:  never more than capacity() items, exactly; after a resize() below size(), none enters without one leaving
///          until the consumer has caught up. A push that is under way may still go by the capacity before, one portion
///          long. Items of one producer keep their order.
/// Failure: the constructor may throw std::bad_alloc. Every item that is not handed to the consumer is given to the
///          producer's `on_loss` and counted in lost(), also one for which there is no memory. When on_loss() throws,
///          the items behind are neither in nor counted.
template <class T>
class BoundedQueue {
    static_assert(std::is_trivially_copyable_v<T>, "items are copied as bytes and dropped without a destructor");

  public:
    static constexpr std::size_t capacity_max = 1'048'576;
    /// Items that a producer with drop_oldest takes out at once.
    static constexpr std::size_t evict_items_max = 32;
    /// A producer that waits is woken when this part of the capacity has been taken, or all that was there.
    static constexpr std::size_t room_share = 8;

    explicit BoundedQueue(std::size_t capacity, OverflowPolicy policy = OverflowPolicy::drop_oldest,
                          Producers producers = Producers::several)
        : capacity_(capacity), policy_(policy) {
        TELEGATE_ASSERT(capacity >= 1 && capacity <= capacity_max);
        if (producers == Producers::one) {
            lane_.template emplace<SingleProducerLane<T>>(capacity);
        } else {
            lane_.template emplace<SeveralProducersLane<T>>(capacity);
        }
    }

    /// Offers `items` in order. `on_loss(const T&, QueueLoss)` is called in this thread for each item that is lost:
    /// with drop_oldest those are older items, possibly of another producer. `on_wait()` is called with policy block
    /// each time before this thread waits, so that the consumer can be told of what is inside.
    template <class OnLoss, class OnWait>
    void push(std::span<const T> items, OnLoss&& on_loss, OnWait&& on_wait) {
        if (auto* const single = std::get_if<SingleProducerLane<T>>(&lane_)) {
            push_into(*single, items, on_loss, on_wait);
        } else {
            push_into(*std::get_if<SeveralProducersLane<T>>(&lane_), items, on_loss, on_wait);
        }
    }

    template <class OnLoss>
    void push(std::span<const T> items, OnLoss&& on_loss) {
        push(items, on_loss, [] {});
    }

    template <class OnLoss>
    void push(const T& item, OnLoss&& on_loss) {
        auto* const single = std::get_if<SingleProducerLane<T>>(&lane_);
        if (single == nullptr || closed_.load(std::memory_order_acquire) ||
            !single->put_quickly(item, capacity_.load(std::memory_order_relaxed))) {
            push(std::span<const T>(&item, 1), on_loss);
        }
    }

    /// Moves up to out.size() items to `out`, oldest first per producer. Returns how many.
    std::size_t pop(std::span<T> out) noexcept {
        auto* const single = std::get_if<SingleProducerLane<T>>(&lane_);
        const std::size_t taken =
            single != nullptr ? single->take(out) : std::get_if<SeveralProducersLane<T>>(&lane_)->take(out);
        if (taken > 0 && bell_.somebody_waits()) [[unlikely]] {
            tell_of_room(taken, taken < out.size());
        }
        return taken;
    }

    /// From now on every push is refused and every waiting producer returns; one under way may still put in a portion.
    /// What is inside stays for the consumer.
    void close() noexcept {
        closed_.store(true, std::memory_order_release);
        bell_.ring();
    }

    /// Takes effect at once and loses nothing. `capacity` is 1 to capacity_max.
    void resize(std::size_t capacity) noexcept {
        TELEGATE_ASSERT(capacity >= 1 && capacity <= capacity_max);
        capacity_.store(capacity);
        bell_.ring();
    }
    void set_policy(OverflowPolicy policy) noexcept {
        policy_.store(policy);
        bell_.ring();
    }

    [[nodiscard]] std::size_t size() const noexcept {
        const auto* const single = std::get_if<SingleProducerLane<T>>(&lane_);
        return single != nullptr ? single->size() : std::get_if<SeveralProducersLane<T>>(&lane_)->size();
    }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_.load(); }
    [[nodiscard]] OverflowPolicy policy() const noexcept { return policy_.load(); }
    /// The largest size() there has been, or somewhat more, up to the capacity: items taken meanwhile may be in it.
    [[nodiscard]] std::size_t high_water() const noexcept {
        const auto* const single = std::get_if<SingleProducerLane<T>>(&lane_);
        return single != nullptr ? single->high_water() : std::get_if<SeveralProducersLane<T>>(&lane_)->high_water();
    }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

  private:
    /// Not for each item: waking costs more than the room of a few is worth. The consumer has enough to go on with.
    [[gnu::noinline]] void tell_of_room(std::size_t taken, bool is_empty) noexcept {
        taken_untold_ += taken;
        if (is_empty || taken_untold_ >= capacity_.load(std::memory_order_relaxed) / room_share) {
            taken_untold_ = 0;
            bell_.ring();
        }
    }

    /// Out of line, so that what pushes single items stays small around the quick way.
    template <class Lane, class OnLoss, class OnWait>
    [[gnu::noinline]] void push_into(Lane& lane, std::span<const T> items, OnLoss& on_loss, OnWait& on_wait) {
        ShortWait wait;
        while (!items.empty()) {
            if (closed_.load(std::memory_order_acquire)) {
                return lose(items, QueueLoss::closed, on_loss);
            }
            const Entered entered = lane.put(items, capacity_.load(std::memory_order_relaxed));
            items = items.subspan(entered.count);
            if (entered.no_memory) {
                bell_.ring();  // others may have taken for full what was only meant to be filled
                return lose(items, QueueLoss::refused, on_loss);
            }
            if (entered.count > 0) {
                continue;
            }
            switch (policy_.load(std::memory_order_relaxed)) {
                case OverflowPolicy::drop_newest: return lose(items, QueueLoss::refused, on_loss);
                case OverflowPolicy::drop_oldest:
                    items = items.subspan(replace_oldest(lane, items, on_loss, wait));
                    break;
                case OverflowPolicy::block:
                    on_wait();
                    bell_.wait_unless([&] { return !must_wait(lane); });
                    break;
            }
        }
    }

    /// Returns how many items have found their end, in the queue or among the losses.
    template <class Lane, class OnLoss>
    std::size_t replace_oldest(Lane& lane, std::span<const T> items, OnLoss& on_loss, ShortWait& wait) {
        std::array<T, evict_items_max> oldest;
        const std::size_t capacity = capacity_.load(std::memory_order_relaxed);
        const std::size_t wanted = std::min(items.size(), oldest.size());
        const std::size_t evicted = lane.take_oldest(std::span<T>(oldest).first(wanted), capacity);
        if (evicted > 0) {
            const Entered entered = lane.fill(items.first(evicted), capacity);
            if (entered.no_memory) {
                bell_.ring();
            }
            lose(std::span<const T>(oldest).first(evicted), QueueLoss::evicted, on_loss);
            lose(items.first(evicted).subspan(entered.count), QueueLoss::refused, on_loss);
        } else {
            wait.once();  // there is room again, or will be when another thread has ended its turn
        }
        return evicted;
    }

    template <class OnLoss>
    void lose(std::span<const T> items, QueueLoss loss, OnLoss& on_loss) {
        if (items.empty()) {
            return;
        }
        lost_.fetch_add(items.size(), std::memory_order_relaxed);
        for (const T& item : items) {
            on_loss(item, loss);
        }
    }

    template <class Lane>
    [[nodiscard]] bool must_wait(const Lane& lane) const noexcept {
        return lane.is_full(capacity_.load()) && !closed_.load() && policy_.load() == OverflowPolicy::block;
    }

    // Read by both sides all the time, and hardly ever written.
    alignas(64) std::atomic<std::size_t> capacity_;
    std::atomic<OverflowPolicy> policy_;
    std::atomic<bool> closed_{false};
    RoomBell bell_;
    alignas(64) std::atomic<std::uint64_t> lost_{0};
    std::size_t taken_untold_ = 0;  // by the consumer, while somebody waits
    std::variant<std::monostate, SingleProducerLane<T>, SeveralProducersLane<T>> lane_;
};

}  // namespace telegate
