#pragma once

#include "core/assert.hpp"
#include "core/short_wait.hpp"
#include "core/single_producer_lane.hpp"
#include "core/space_signal.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace telegate {

/// What a full queue does with a new item.
enum class OverflowPolicy : std::uint8_t {
    drop_oldest,  // the oldest item of the same producer gives way: the newest data is worth most
    drop_newest,  // the new item is refused
    block,        // the producer waits for room, or for close()
};

[[nodiscard]] std::string_view to_string(OverflowPolicy policy) noexcept;

/// What became of an item that did not stay in the queue.
enum class QueueLoss : std::uint8_t { evicted, refused, closed };

/// The crossing between the sampling threads and the io thread: a lane for each producer, which the consumer serves in
/// turn.
///
/// A single producer has the whole capacity. Of several, each has a guaranteed share; the shares are half of the
/// capacity, and the other half is lent to producers that have more inside than their share. So a producer that floods
/// the queue fills its own share and what can be lent, and loses items of its own; the others lose none.
///
/// Threads: push() one at a time for each producer; add_producer(), enroll(), retire(), resize(), set_policy(), close()
///          and the observers any; pop() one consumer.
/// Limits:  producers_max producers. Never more than capacity() items, exactly; a share is one item at least, also when
///          the capacity is less than that for each. When a resize() or another producer leaves a producer less than it
///          has inside, it gets nothing more in until the consumer has caught up; the others have their shares. Items
///          of one producer keep their order.
/// Failure: the constructor and add_producer() may throw std::bad_alloc. Every item that is not handed to the consumer
///          is given to its producer's `on_loss` and counted in lost(), also one for which there is no memory. When
///          on_loss() throws, the items after it are neither in the queue nor counted.
template <class T>
class BoundedQueue {
    static_assert(std::is_trivially_copyable_v<T>, "items are copied as bytes and dropped without a destructor");

  public:
    static constexpr std::size_t capacity_max = 1'048'576;
    /// One for all devices that never block, and one for each name of a device that does.
    static constexpr std::size_t producers_max = 1'025;
    /// Items that a producer with drop_oldest takes out at once.
    static constexpr std::size_t evict_items_max = 32;
    /// A producer that waits is woken when this part of the capacity has been taken, or everything.
    static constexpr std::size_t room_share = 8;

    /// One thread's way into the queue. Lives as long as the queue.
    class Producer {
      public:
        explicit Producer(std::size_t capacity, std::size_t blocks) : lane_(capacity, blocks) {}

        [[nodiscard]] std::size_t size() const noexcept { return lane_.size(); }
        /// Items that have ever entered.
        [[nodiscard]] std::uint64_t entered() const noexcept { return lane_.entered(); }
        /// Items that have ever left, taken or evicted.
        [[nodiscard]] std::uint64_t left() const noexcept { return lane_.left(); }

      private:
        friend BoundedQueue;
        SingleProducerLane<T> lane_;
        std::atomic<Producer*> next_{nullptr};  // in the order in which they were added; owned
        bool enrolled_ = false;                 // guarded by terms_mutex_
    };

    /// Has one producer, first(), which is enrolled.
    explicit BoundedQueue(std::size_t capacity, OverflowPolicy policy = OverflowPolicy::drop_oldest)
        : capacity_(capacity), guaranteed_(capacity), policy_(policy), first_(capacity, lane_blocks_first) {
        TELEGATE_ASSERT(capacity >= 1 && capacity <= capacity_max);
        enroll(first_);
    }

    ~BoundedQueue() {
        for (Producer* producer = first_.next_.load(std::memory_order_acquire); producer != nullptr;) {
            const std::unique_ptr<Producer> owned(producer);
            producer = producer->next_.load(std::memory_order_relaxed);
        }
    }
    BoundedQueue(const BoundedQueue&) = delete;
    BoundedQueue& operator=(const BoundedQueue&) = delete;

    [[nodiscard]] Producer& first() noexcept { return first_; }

    /// Adds a producer, which has a share once it is enrolled. Throws std::length_error beyond producers_max.
    [[nodiscard]] Producer& add_producer() {
        const std::lock_guard lock(terms_mutex_);
        if (count_.load(std::memory_order_relaxed) == producers_max) {
            throw std::length_error("there are " + std::to_string(producers_max) + " producers, the most that may be");
        }
        auto added = std::make_unique<Producer>(capacity_.load(std::memory_order_relaxed), lane_blocks_other);
        last_->next_.store(added.get(), std::memory_order_release);
        last_ = added.release();
        count_.fetch_add(1, std::memory_order_relaxed);
        return *last_;
    }

    /// Gives the producer a share from now on. Idempotent.
    void enroll(Producer& producer) noexcept { set_enrolled(producer, true); }
    /// Divides the producer's share among the others. What it has inside stays for the consumer. Idempotent.
    void retire(Producer& producer) noexcept { set_enrolled(producer, false); }

    /// Offers `items` in order. `on_loss(const T&, QueueLoss)` is called in this thread for each item that is lost:
    /// with drop_oldest those are older items of the same producer. `on_wait()` is called with policy block each time
    /// before this thread waits, so that the consumer can be notified of what is inside.
    template <class OnLoss, class OnWait>
    [[gnu::noinline]] void push(Producer& producer, std::span<const T> items, OnLoss&& on_loss, OnWait&& on_wait) {
        ShortWait wait;
        while (!items.empty()) {
            if (closed_.load(std::memory_order_acquire)) {
                return lose(items, QueueLoss::closed, on_loss);
            }
            Entered entered = producer.lane_.put(items, guaranteed_.load(std::memory_order_relaxed));
            if (entered.count == 0 && !entered.no_memory) {
                entered = put_into_lent_room(producer, items);
            }
            items = items.subspan(entered.count);
            if (entered.no_memory) {
                return lose(items, QueueLoss::refused, on_loss);
            }
            if (entered.count > 0) {
                continue;
            }
            switch (policy_.load(std::memory_order_relaxed)) {
                case OverflowPolicy::drop_newest: return lose(items, QueueLoss::refused, on_loss);
                case OverflowPolicy::drop_oldest:
                    items = items.subspan(replace_oldest(producer, items, on_loss, wait));
                    break;
                case OverflowPolicy::block:
                    on_wait();
                    bell_.wait_unless([&] { return !must_wait(producer); });
                    break;
            }
        }
    }

    template <class OnLoss>
    void push(Producer& producer, std::span<const T> items, OnLoss&& on_loss) {
        push(producer, items, on_loss, [] {});
    }

    template <class OnLoss>
    void push(Producer& producer, const T& item, OnLoss&& on_loss) {
        if (closed_.load(std::memory_order_acquire) ||
            !producer.lane_.put_quickly(item, guaranteed_.load(std::memory_order_relaxed))) {
            push(producer, std::span<const T>(&item, 1), on_loss);
        }
    }

    /// Moves up to out.size() items to `out`, oldest first per producer. Returns how many.
    std::size_t pop(std::span<T> out) noexcept {
        const bool is_alone = first_.next_.load(std::memory_order_acquire) == nullptr;
        const std::size_t taken = is_alone ? first_.lane_.take(out) : take_in_turn(out);
        if ((taken > 0 || taken_unannounced_ > 0) && bell_.somebody_waits()) [[unlikely]] {
            announce_room(taken, taken < out.size());
        }
        return taken;
    }

    /// From now on every push is refused and every waiting producer returns; one in flight may still put in a portion.
    /// What is inside stays for the consumer.
    void close() noexcept {
        closed_.store(true, std::memory_order_release);
        bell_.ring();
    }

    /// Takes effect at once and loses nothing. `capacity` is 1 to capacity_max.
    void resize(std::size_t capacity) noexcept {
        TELEGATE_ASSERT(capacity >= 1 && capacity <= capacity_max);
        const std::lock_guard lock(terms_mutex_);
        divide(capacity);
    }
    void set_policy(OverflowPolicy policy) noexcept {
        policy_.store(policy);
        bell_.ring();
    }

    [[nodiscard]] std::size_t size() const noexcept {
        return exact_size([this] { return sum([](const Producer& producer) { return producer.left(); }); },
                          [this] { return sum([](const Producer& producer) { return producer.entered(); }); });
    }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_.load(); }
    /// Items of each enrolled producer for which there always is room.
    [[nodiscard]] std::size_t guaranteed() const noexcept { return guaranteed_.load(); }
    [[nodiscard]] std::size_t producers() const noexcept { return count_.load(std::memory_order_relaxed); }
    [[nodiscard]] OverflowPolicy policy() const noexcept { return policy_.load(); }
    /// The largest size() there has been, or somewhat more, up to the capacity: items taken meanwhile may be counted.
    /// With several producers the sum of the most that each has had inside, up to the capacity.
    [[nodiscard]] std::size_t high_water() const noexcept {
        if (producers() == 1) {
            return first_.lane_.high_water();
        }
        return std::min<std::size_t>(sum([](const Producer& producer) { return producer.lane_.high_water(); }),
                                     capacity());
    }
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

  private:
    // So that a lane that is read in time allocates nothing. The first one carries most devices.
    static constexpr std::size_t lane_blocks_first = 16;
    static constexpr std::size_t lane_blocks_other = 2;

    template <class Value>
    [[nodiscard]] std::uint64_t sum(const Value& value) const noexcept {
        std::uint64_t total = 0;
        for (const Producer* producer = &first_; producer != nullptr;
             producer = producer->next_.load(std::memory_order_acquire)) {
            total += value(*producer);
        }
        return total;
    }

    void set_enrolled(Producer& producer, bool enrolled) noexcept {
        const std::lock_guard lock(terms_mutex_);
        if (producer.enrolled_ != enrolled) {
            producer.enrolled_ = enrolled;
            enrolled ? ++sharers_ : --sharers_;
            divide(capacity_.load(std::memory_order_relaxed));
        }
    }

    /// Threads: the one that holds terms_mutex_.
    void divide(std::size_t capacity) noexcept {
        const std::size_t share = sharers_ <= 1 ? capacity : std::max<std::size_t>(1, capacity / 2 / sharers_);
        const std::size_t shares = share * std::max<std::size_t>(1, sharers_);
        capacity_.store(capacity);
        guaranteed_.store(share);
        lendable_.store(capacity - std::min(capacity, shares));
        bell_.ring();
    }

    /// How many items the producer may have inside: its share, and what the others leave of the room that is lent.
    [[nodiscard]] std::size_t allowance(const Producer& producer) const noexcept {
        const std::size_t share = guaranteed_.load(std::memory_order_relaxed);
        const std::size_t lendable = lendable_.load(std::memory_order_relaxed);
        const std::size_t lent = sum([&](const Producer& each) {
            const std::size_t size = &each == &producer ? 0 : each.lane_.size();
            return size - std::min(size, share);
        });
        return share + lendable - std::min(lendable, lent);
    }

    /// One producer at a time, so that nothing is lent twice. Meanwhile the others get items into their shares only.
    class LendingTurn {
      public:
        explicit LendingTurn(std::atomic_flag& taken) noexcept : taken_(taken) {
            ShortWait wait;
            while (taken_.test_and_set(std::memory_order_acquire)) {
                wait.once();
            }
        }
        ~LendingTurn() { taken_.clear(std::memory_order_release); }
        LendingTurn(const LendingTurn&) = delete;
        LendingTurn& operator=(const LendingTurn&) = delete;

      private:
        std::atomic_flag& taken_;
    };

    [[gnu::noinline]] Entered put_into_lent_room(Producer& producer, std::span<const T> items) noexcept {
        if (lendable_.load(std::memory_order_relaxed) == 0) {
            return {};
        }
        const LendingTurn turn(lending_);
        return producer.lane_.put(items, allowance(producer));
    }

    /// Gives each producer an equal part of `out`, and what is left of it to producers in turn.
    [[gnu::noinline]] std::size_t take_in_turn(std::span<T> out) noexcept {
        const std::size_t part = std::max<std::size_t>(1, out.size() / producers());
        const std::size_t taken = take_round(out, part);
        return taken + take_round(out.subspan(taken), out.size());
    }

    /// Serves each producer once, up to `part` items, from the one after the last one that was served.
    std::size_t take_round(std::span<T> out, std::size_t part) noexcept {
        const Producer* const served_last = turn_;
        std::size_t taken = 0;
        while (taken < out.size()) {
            Producer* const next = turn_->next_.load(std::memory_order_acquire);
            turn_ = next != nullptr ? next : &first_;
            if (!turn_->lane_.is_empty()) {
                taken += turn_->lane_.take(out.subspan(taken, std::min(part, out.size() - taken)));
            }
            if (turn_ == served_last) {
                break;
            }
        }
        return taken;
    }

    /// Not for each item: waking costs more than the room of a few is worth. The consumer has enough to continue with.
    [[gnu::noinline]] void announce_room(std::size_t taken, bool is_empty) noexcept {
        taken_unannounced_ += taken;
        if (is_empty || taken_unannounced_ >= capacity_.load(std::memory_order_relaxed) / room_share) {
            taken_unannounced_ = 0;
            bell_.ring();
        }
    }

    struct Replaced {
        std::size_t evicted = 0;
        std::size_t entered = 0;
    };

    /// Within a turn: the others must not take the room between for room that can be lent.
    Replaced evict_and_fill(Producer& producer, std::span<const T> items, std::span<T> oldest) noexcept {
        const LendingTurn turn(lending_);
        const std::size_t share = guaranteed_.load(std::memory_order_relaxed);
        const std::size_t evicted = producer.lane_.take_oldest(oldest, share);
        return {evicted, producer.lane_.fill(items.first(evicted), share).count};
    }

    /// Returns how many items have found their end, in the queue or among the losses.
    template <class OnLoss>
    std::size_t replace_oldest(Producer& producer, std::span<const T> items, OnLoss& on_loss, ShortWait& wait) {
        std::array<T, evict_items_max> oldest;
        const auto room = std::span<T>(oldest).first(std::min(items.size(), oldest.size()));
        const Replaced replaced = evict_and_fill(producer, items, room);
        if (replaced.evicted > 0) {
            lose(std::span<const T>(room).first(replaced.evicted), QueueLoss::evicted, on_loss);
            lose(items.first(replaced.evicted).subspan(replaced.entered), QueueLoss::refused, on_loss);
        } else {
            wait.once();  // the consumer has made room, or is just taking
        }
        return replaced.evicted;
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

    [[nodiscard]] bool must_wait(const Producer& producer) const noexcept {
        return producer.lane_.is_full(allowance(producer)) && !closed_.load() &&
               policy_.load() == OverflowPolicy::block;
    }

    // Read by both sides all the time, and hardly ever written.
    alignas(64) std::atomic<std::size_t> capacity_;
    std::atomic<std::size_t> guaranteed_;   // to each enrolled producer
    std::atomic<std::size_t> lendable_{0};  // to all producers together
    std::atomic<OverflowPolicy> policy_;
    std::atomic<bool> closed_{false};
    SpaceSignal bell_;
    alignas(64) std::atomic<std::uint64_t> lost_{0};
    std::atomic_flag lending_;
    std::size_t taken_unannounced_ = 0;  // by the consumer, while a producer waits
    Producer* turn_ = &first_;           // the one that the consumer served last
    Producer first_;
    std::mutex terms_mutex_;    // guards what follows, for writing, and what divide() changes
    Producer* last_ = &first_;  // of the list
    std::size_t sharers_ = 0;   // enrolled producers
    std::atomic<std::size_t> count_{1};
};

}  // namespace telegate
