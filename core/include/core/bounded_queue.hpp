#pragma once

#include "core/assert.hpp"
#include "core/single_producer_queue.hpp"
#include "core/taker_guard.hpp"

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

/// Wakes producers that wait for capacity. A producer sets a flag and then rechecks the capacity; the consumer frees
/// capacity and then checks the flag. With a fence between the two steps, at least one of them sees the other's change.
/// The count of ring() publishes what was changed before it, including the flag, to a producer that reads the count.
///
/// Threads: any.
/// Limits: one wake-up for all waiters, however often ring() is called before they have woken.
/// Failure: none.
class SpaceSignal {
  public:
    /// Returns after the next ring(), or immediately if `has_room()` is true. It is called after the flag is set.
    template <class HasRoom>
    void wait_unless(HasRoom has_room) noexcept {
        // Read before the flag is set, so a ring() that later clears the flag also increments the count later.
        const std::uint32_t rung = rung_.load(std::memory_order_acquire);
        waiting_.store(true, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_seq_cst);
        if (!has_room()) {
            rung_.wait(rung);
        }
    }

    /// Returns whether a producer waits. Must be called after capacity was freed; a waiter that is missed here sees the
    /// capacity.
    [[nodiscard]] bool somebody_waits() const noexcept {
        std::atomic_thread_fence(std::memory_order_seq_cst);
        return waiting_.load(std::memory_order_relaxed);
    }

    [[gnu::noinline]] void ring() noexcept {
        waiting_.store(false, std::memory_order_relaxed);
        rung_.fetch_add(1);  // release would be enough, except that notify_all() then checks for waiters
        rung_.notify_all();
    }

  private:
    std::atomic<bool> waiting_{false};
    std::atomic<std::uint32_t> rung_{0};
};

/// The treatment of a new item by a full queue.
enum class OverflowPolicy : std::uint8_t {
    drop_oldest,  // evicts the oldest item of the same producer: the newest data is worth most
    drop_newest,  // refuses the new item
    block,        // makes the producer wait until there is capacity or the queue is closed
};

[[nodiscard]] constexpr std::string_view to_string(OverflowPolicy policy) noexcept {
    switch (policy) {
        case OverflowPolicy::drop_oldest: return "drop_oldest";
        case OverflowPolicy::drop_newest: return "drop_newest";
        case OverflowPolicy::block: return "block";
    }
    return "";
}

/// Why an item did not reach the consumer.
enum class QueueLoss : std::uint8_t { evicted, refused, closed };

/// A bounded queue between the sampling threads and the I/O thread, with one queue per producer inside. The consumer
/// serves these queues in turn.
///
/// A single producer has the whole capacity. With several producers, half of the capacity is divided into guaranteed
/// shares, one per enrolled producer; the other half is lent to producers that exceed their share. A producer that
/// floods the queue can only fill its own share and the lent half, and only loses its own items. A share is at least
/// what the producer needs, if that is not more than an equal part of what the producers with larger needs can get
/// (max-min fairness): no producer can take away from another one by needing more. Capacity is divided by what the
/// producers are known to need first, then by what they may need.
///
/// The capacity is fixed, or follows the needs: then both halves hold what all producers need.
///
/// The link to a producer is released when the producer is complete, and acquired by all that follow the list. A
/// changed capacity, share or policy and the end of the queue order nothing else; a waiting producer sees them after
/// ring().
///
/// Threads: push(): one thread at a time per producer. pop(): one consumer. All others: any.
/// Limits: producers_max producers and capacity() items. A share is at least one item, so the queue can hold more if
/// there are more producers than capacity. If resize() or a change of shares leaves a producer with more items than it
/// is allowed, it can add none until the consumer has caught up. Meanwhile the others can still fill their shares, even
/// beyond capacity(). Items of one producer keep their order.
/// Failure: the constructor and add_producer() may throw std::bad_alloc. Every item that does not reach the consumer is
/// passed to its producer's `on_loss` and counted in lost(). If on_loss() throws, the items after it are neither queued
/// nor reported.
template <class T>
class BoundedQueue {
    static_assert(std::is_trivially_copyable_v<T>, "items are copied as bytes and dropped without a destructor");

  public:
    static constexpr std::size_t capacity_max = 1'048'576;
    /// Limits of a capacity that follows the needs. The smallest one holds the bursts of devices whose channels are not
    /// known yet. The largest one, 16 MiB of samples, holds four readings of every channel that can exist.
    static constexpr std::size_t capacity_auto_min = 1'024;
    static constexpr std::size_t capacity_auto_max = 262'144;
    /// One producer for all devices that never block, plus one for each name of a device that may block.
    static constexpr std::size_t producers_max = 1'025;
    /// The number of items that a producer with drop_oldest evicts at once.
    static constexpr std::size_t evict_items_max = 32;
    /// A waiting producer is woken when 1/room_share of the capacity has been freed, or when the queue is empty.
    static constexpr std::size_t room_share = 8;

    /// A producer's access to the queue. Lives as long as the queue.
    class Producer {
      public:
        explicit Producer(std::size_t capacity, std::size_t blocks) : queue_(capacity, blocks) {}

        [[nodiscard]] std::size_t size() const noexcept { return queue_.size(); }
        /// Returns how many items were ever added.
        [[nodiscard]] std::uint64_t entered() const noexcept { return queue_.entered(); }
        /// Returns how many items were ever removed, by the consumer or by eviction.
        [[nodiscard]] std::uint64_t left() const noexcept { return queue_.left(); }

      private:
        friend BoundedQueue;
        SingleProducerQueue<T> queue_;
        std::atomic<std::size_t> share_{1};     // guaranteed; at least 1, so that its oldest item can be replaced
        std::atomic<Producer*> next_{nullptr};  // in the order added; owned
        bool enrolled_ = false;                 // this and the next ones are guarded by terms_mutex_
        std::size_t known_need_ = 0;
        std::size_t need_ = 0;  // at least known_need_
    };

    /// Creates a queue with one enrolled producer, first().
    explicit BoundedQueue(std::size_t capacity, OverflowPolicy policy = OverflowPolicy::drop_oldest)
        : capacity_(capacity), policy_(policy), first_(capacity, producer_blocks_first) {
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

    /// Adds a producer. It has no share until it is enrolled. Throws std::length_error beyond producers_max.
    [[nodiscard]] Producer& add_producer() {
        const std::lock_guard lock(terms_mutex_);
        if (count_.load(std::memory_order_relaxed) == producers_max) {
            throw std::length_error("too many producers: must be at most " + std::to_string(producers_max));
        }
        auto added = std::make_unique<Producer>(capacity_.load(std::memory_order_relaxed), producer_blocks_other);
        last_->next_.store(added.get(), std::memory_order_release);
        last_ = added.release();
        count_.fetch_add(1, std::memory_order_relaxed);
        return *last_;
    }

    /// Assigns a share to the producer. Idempotent.
    void enroll(Producer& producer) noexcept { set_enrolled(producer, true); }
    /// Divides the producer's share among the others. Its queued items stay for the consumer. Idempotent.
    void retire(Producer& producer) noexcept { set_enrolled(producer, false); }
    /// Sets how many items the producer is known to need capacity for, and how many it may need.
    void set_need(Producer& producer, std::size_t known, std::size_t items) noexcept {
        const std::lock_guard lock(terms_mutex_);
        producer.need_ = std::min(items, capacity_max);
        producer.known_need_ = std::min(known, producer.need_);
        divide();
    }

    /// Offers `items` in order. Calls `on_loss(const T&, QueueLoss)` on this thread for each lost item; with
    /// drop_oldest, these are older items of the same producer. With block, calls `on_wait()` each time before this
    /// thread waits, so that the caller can notify the consumer of the queued items.
    template <class OnLoss, class OnWait>
    [[gnu::noinline]] void push(Producer& producer, std::span<const T> items, OnLoss&& on_loss, OnWait&& on_wait) {
        ShortWait wait;
        while (!items.empty()) {
            if (closed_.load(std::memory_order_relaxed)) {
                return lose(items, QueueLoss::closed, on_loss);
            }
            std::size_t entered = producer.queue_.put(items, guaranteed(producer));
            if (entered == 0) {
                entered = put_into_lent_room(producer, items);
            }
            items = items.subspan(entered);
            if (entered > 0) {
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
        if (closed_.load(std::memory_order_relaxed) || !producer.queue_.put_quickly(item, guaranteed(producer))) {
            push(producer, std::span<const T>(&item, 1), on_loss);
        }
    }

    /// Moves up to out.size() items to `out`, oldest first per producer. Returns the number of items moved.
    std::size_t pop(std::span<T> out) noexcept {
        const bool is_alone = first_.next_.load(std::memory_order_acquire) == nullptr;
        const std::size_t taken = is_alone ? first_.queue_.pop(out) : pop_in_turn(out);
        if ((taken > 0 || taken_unannounced_ > 0) && bell_.somebody_waits()) [[unlikely]] {
            announce_room(taken, taken < out.size());
        }
        return taken;
    }

    /// Closes the queue: later pushes are refused and waiting producers return. A push in flight may still add a batch.
    /// Queued items stay for the consumer.
    void close() noexcept {
        closed_.store(true, std::memory_order_relaxed);  // ring() publishes it
        bell_.ring();
    }

    /// Changes the capacity (1 to capacity_max) immediately, without losing items. It then stays.
    void resize(std::size_t capacity) noexcept {
        TELEGATE_ASSERT(capacity >= 1 && capacity <= capacity_max);
        const std::lock_guard lock(terms_mutex_);
        follows_needs_ = false;
        capacity_.store(capacity);
        divide();
    }
    /// Makes the capacity follow the needs of the producers, from now on.
    void follow_needs() noexcept {
        const std::lock_guard lock(terms_mutex_);
        follows_needs_ = true;
        divide();
    }
    /// Returns the capacity for producers that need this many items together, for each half of the queue.
    [[nodiscard]] static constexpr std::size_t capacity_for(std::size_t need) noexcept {
        return std::clamp(2 * std::min(need, capacity_max), capacity_auto_min, capacity_auto_max);
    }
    /// Changes the policy immediately, including for producers that are waiting.
    void set_policy(OverflowPolicy policy) noexcept {
        policy_.store(policy);
        bell_.ring();
    }

    /// Returns the number of queued items, exactly.
    [[nodiscard]] std::size_t size() const noexcept {
        return exact_size([this] { return sum([](const Producer& producer) { return producer.left(); }); },
                          [this] { return sum([](const Producer& producer) { return producer.entered(); }); });
    }
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_.load(); }
    /// Returns the guaranteed share of a producer, in items.
    [[nodiscard]] std::size_t guaranteed(const Producer& producer) const noexcept {
        return producer.share_.load(std::memory_order_relaxed);
    }
    /// Returns how many items certainly fit into an empty queue, whatever part of them each producer adds.
    [[nodiscard]] std::size_t certain() const noexcept { return lendable_.load() == 0 ? capacity() : capacity() / 2; }
    [[nodiscard]] std::size_t producers() const noexcept { return count_.load(std::memory_order_relaxed); }
    [[nodiscard]] OverflowPolicy policy() const noexcept { return policy_.load(); }
    /// Returns the largest size() so far, or slightly more, up to the capacity: items that were being taken may be
    /// included. With several producers, returns the sum of their largest sizes, up to the capacity.
    [[nodiscard]] std::size_t high_water() const noexcept {
        if (producers() == 1) {
            return first_.queue_.high_water();
        }
        return std::min<std::size_t>(sum([](const Producer& producer) { return producer.queue_.high_water(); }),
                                     capacity());
    }
    /// Returns how many items were ever lost.
    [[nodiscard]] std::uint64_t lost() const noexcept { return lost_.load(std::memory_order_relaxed); }

  private:
    // Preallocated blocks, so that a queue that is read in time allocates nothing. The first queue carries most
    // devices.
    static constexpr std::size_t producer_blocks_first = 16;
    static constexpr std::size_t producer_blocks_other = 2;

    template <class Value>
    [[nodiscard]] auto sum(const Value& value) const noexcept {
        decltype(value(first_)) total = 0;
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
            producer.share_.store(1);
            divide();
        }
    }

    template <class Use>
    void each_enrolled(const Use& use) noexcept {
        for (Producer* producer = &first_; producer != nullptr; producer = producer->next_.load()) {
            if (producer->enrolled_) {
                use(*producer);
            }
        }
    }

    /// Sets the capacity, if it follows the needs, and the shares. Threads: the one that holds terms_mutex_.
    void divide() noexcept {
        std::size_t need = 0;
        each_enrolled([&](const Producer& each) { need = std::min(need + each.need_, capacity_max); });
        if (follows_needs_) {
            capacity_.store(capacity_for(need));
        }
        const std::size_t capacity = capacity_.load(std::memory_order_relaxed);
        const std::size_t half = sharers_ <= 1 ? capacity : capacity / 2;
        const auto known_part = [](const Producer& each, std::size_t level) {
            return std::min(each.known_need_, level);
        };
        const std::size_t known_level = need <= half ? half : level_within(half, known_part);
        const auto part = [&](const Producer& each, std::size_t level) {
            return std::max(known_part(each, known_level), std::min(each.need_, level));
        };
        const std::size_t level = need <= half ? half : level_within(half, part);
        std::size_t covered = 0;  // by shares that are limited by the need
        each_enrolled([&](const Producer& each) { covered += part(each, level); });
        const std::size_t extra = sharers_ == 0 ? 0 : (half - std::min(half, covered)) / sharers_;
        std::size_t shares = 0;
        each_enrolled([&](Producer& each) {
            const std::size_t share = std::max<std::size_t>(1, part(each, level) + extra);
            each.share_.store(share);
            shares += share;
        });
        lendable_.store(capacity - std::min(capacity, shares));
        bell_.ring();
    }

    /// Returns the largest level at which the parts of all producers together are at most `half`.
    template <class Part>
    [[nodiscard]] std::size_t level_within(std::size_t half, const Part& part) noexcept {
        std::size_t low = 0;
        for (std::size_t high = half; low < high;) {
            const std::size_t middle = low + (high - low + 1) / 2;
            std::size_t sum = 0;
            each_enrolled([&](const Producer& each) { sum += part(each, middle); });
            (sum <= half ? low : high) = sum <= half ? middle : middle - 1;
        }
        return low;
    }

    /// Returns how many items the producer may have in the queue: its share plus the lendable capacity that the others
    /// have not used.
    [[nodiscard]] std::size_t allowance(const Producer& producer) const noexcept {
        const std::size_t lendable = lendable_.load(std::memory_order_relaxed);
        const std::size_t lent = sum([&](const Producer& each) {
            const std::size_t size = &each == &producer ? 0 : each.queue_.size();
            return size - std::min(size, guaranteed(each));
        });
        return guaranteed(producer) + lendable - std::min(lendable, lent);
    }

    /// Lets one producer at a time use the lendable capacity, so that it is not lent twice. Meanwhile the others can
    /// only use their shares.
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

    [[gnu::noinline]] std::size_t put_into_lent_room(Producer& producer, std::span<const T> items) noexcept {
        if (lendable_.load(std::memory_order_relaxed) == 0) {
            return 0;
        }
        const LendingTurn turn(lending_);
        return producer.queue_.put(items, allowance(producer));
    }

    /// Assigns an equal part of `out` to each producer, then the rest of `out` to producers in turn.
    [[gnu::noinline]] std::size_t pop_in_turn(std::span<T> out) noexcept {
        const std::size_t part = std::max<std::size_t>(1, out.size() / producers());
        const std::size_t taken = pop_round(out, part);
        return taken + pop_round(out.subspan(taken), out.size());
    }

    /// Serves each producer once, up to `part` items, starting after the producer that was served last.
    std::size_t pop_round(std::span<T> out, std::size_t part) noexcept {
        const Producer* const served_last = turn_;
        std::size_t taken = 0;
        while (taken < out.size()) {
            Producer* const next = turn_->next_.load(std::memory_order_acquire);
            turn_ = next != nullptr ? next : &first_;
            if (!turn_->queue_.is_empty()) {
                taken += turn_->queue_.pop(out.subspan(taken, std::min(part, out.size() - taken)));
            }
            if (turn_ == served_last) {
                break;
            }
        }
        return taken;
    }

    /// Wakes waiting producers, but not for each item: a wake-up costs more than the capacity of a few items is worth,
    /// and the consumer still has items to read.
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

    /// Holds a LendingTurn, so that the others cannot mistake the freed capacity for lendable capacity.
    Replaced evict_and_fill(Producer& producer, std::span<const T> items, std::span<T> oldest) noexcept {
        const LendingTurn turn(lending_);
        const std::size_t share = guaranteed(producer);
        const std::size_t evicted = producer.queue_.pop_oldest(oldest, share);
        return {evicted, producer.queue_.fill(items.first(evicted), share)};
    }

    /// Returns how many of `items` were queued or reported as lost.
    template <class OnLoss>
    std::size_t replace_oldest(Producer& producer, std::span<const T> items, OnLoss& on_loss, ShortWait& wait) {
        std::array<T, evict_items_max> oldest;
        const auto room = std::span<T>(oldest).first(std::min(items.size(), oldest.size()));
        const Replaced replaced = evict_and_fill(producer, items, room);
        if (replaced.evicted > 0) {
            lose(std::span<const T>(room).first(replaced.evicted), QueueLoss::evicted, on_loss);
            lose(items.first(replaced.evicted).subspan(replaced.entered), QueueLoss::refused, on_loss);
        } else {
            wait.once();  // the consumer has freed capacity or is taking items
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
        return producer.queue_.is_full(allowance(producer)) && !closed_.load(std::memory_order_relaxed) &&
               policy_.load() == OverflowPolicy::block;
    }

    // Read by both sides all the time, rarely written.
    alignas(64) std::atomic<std::size_t> capacity_;
    std::atomic<std::size_t> lendable_{0};  // for all producers together
    std::atomic<OverflowPolicy> policy_;
    std::atomic<bool> closed_{false};
    SpaceSignal bell_;
    alignas(64) std::atomic<std::uint64_t> lost_{0};
    std::atomic_flag lending_;
    std::size_t taken_unannounced_ = 0;  // items taken without a wake-up while a producer waits
    Producer* turn_ = &first_;           // the producer that the consumer served last
    Producer first_;
    std::mutex terms_mutex_;    // guards writes to the members below and to what divide() changes
    Producer* last_ = &first_;  // of the list of producers
    std::size_t sharers_ = 0;   // enrolled producers
    bool follows_needs_ = false;
    std::atomic<std::size_t> count_{1};
};

}  // namespace telegate
