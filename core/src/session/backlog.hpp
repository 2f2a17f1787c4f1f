#pragma once

#include "buffers/segment_log.hpp"
#include "core/bytes.hpp"
#include "core/delivery.hpp"
#include "transport/stream.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace telegate {

/// Returns the description of messages in a log that are being lost. `is_own`: only one peer had them, see add_own().
[[nodiscard]] LostRun lost_run(const Slice& messages, bool is_own) noexcept;

/// The messages that one peer has yet to receive: runs (ranges of a log), oldest first, and how much of the first run
/// is sent.
///
/// Adjacent messages are merged, so a subscriber to everything has one run per segment regardless of the number of
/// messages. A message in flight (partly sent or claimed) is always finished, even when drop_before() drops it: up
/// to rest_bytes_max of it are copied, and for a larger message the segment is held.
///
/// Threads: the log's thread.
/// Limits: runs_max runs, plus one that is held; add() drops the oldest run beyond that. The owner bounds the log's
/// bytes: it calls drop_before() and checks SegmentPool::held_bytes().
/// Failure: add(), consume(), conflate() and the functions that drop part of a run may throw std::bad_alloc.
class Backlog {
  public:
    explicit Backlog(std::size_t runs_max);

    /// Adds one message. Returns the number of messages dropped to stay within runs_max.
    std::uint64_t add(const Slice& message) {
        if (size_ > 0) {
            Run& last = run(size_ - 1);
            if (last.segment.get() == message.segment && last.end == message.begin) {
                last.end = message.end;
                ++last.messages;
                ++messages_;
                bytes_ += message.end - message.begin;
                return 0;
            }
        }
        return add_run(message, 0);
    }

    /// Adds `messages` messages that follow the last one in its segment. Returns false if the last one was refused;
    /// these are then refused too.
    [[nodiscard]] bool extend(const Slice& added, std::uint64_t messages) noexcept {
        if (size_ == 0 || run(size_ - 1).segment.get() != added.segment || run(size_ - 1).end != added.begin) {
            refuse(added, false);
            return false;
        }
        run(size_ - 1).end = added.end;
        run(size_ - 1).messages += static_cast<std::uint32_t>(messages);
        messages_ += messages;
        bytes_ += added.end - added.begin;
        return true;
    }
    /// Adds one message from the peer's own log. `tick`: when it was published, from 1, see AgeMarks.
    std::uint64_t add_own(const Slice& message, std::uint32_t tick);
    /// Puts these messages before all others; nothing may be in flight. Only drop_all() and restart() drop them.
    void put_first(std::vector<std::byte> wire, std::uint64_t messages);

    /// Called with whole messages just before they are dropped because of their age or a limit. drop_all() and
    /// conflate() do not call it.
    using LossCall = std::function<void(const LostRun& run)>;
    void set_on_loss(const LossCall& lost) noexcept { lost_ = &lost; }

    /// Starts or stops refusing messages. While refusing, add() returns 1 and extend() returns false. Refusing may
    /// start only when the next message does not follow the last run in its segment.
    void set_refusing(bool refuses) noexcept { refuses_ = refuses; }
    [[nodiscard]] bool refuses() const noexcept { return refuses_; }
    /// Sets whether new messages are refused at runs_max, instead of the oldest run being dropped.
    void set_refusing_when_full(bool refuses) noexcept { refuses_when_full_ = refuses; }

    /// Fills `out` with the data to send next and returns the number of entries used. Starts at a message boundary
    /// unless at_boundary() is false; then the first entry is the rest of the data in flight. Every entry ends at a
    /// message boundary.
    [[nodiscard]] std::size_t gather(std::span<StreamPart> out) const noexcept;
    /// Like gather(), but only for messages that have started and those of put_first(). Requires at_boundary() to be
    /// false.
    [[nodiscard]] std::size_t gather_under_way(std::span<StreamPart> out) const noexcept;
    /// Marks the first `bytes` from gather(), whole messages, as in flight in another form, so that drop_before() no
    /// longer drops them. At most rest_bytes_max, or one message.
    void claim(std::size_t bytes) noexcept { claimed_ = bytes; }
    /// Removes the first `bytes` from gather(), which were sent. Returns the number of messages completed.
    std::uint64_t consume(std::size_t bytes);

    /// Drops every run that begins before `position` in the log and returns the number of messages dropped. Data in
    /// flight is copied, which frees its segment, or its segment is held.
    std::uint64_t drop_before(std::uint64_t position);
    /// Drops whole messages before `position`, and those of add_own() up to `tick`. Returns the number of messages
    /// dropped.
    std::uint64_t drop_older(std::uint64_t position, std::uint32_t tick);
    /// Drops the oldest messages until at most `bytes_max` bytes, or only the data in flight, are left. Returns the
    /// number of messages dropped.
    std::uint64_t drop_to(std::size_t bytes_max);
    /// Keeps only the newest message of each topic and all one-frame messages. Copies them to `own`, so that they hold
    /// no other segment. `tick_at(position)` returns the publication tick of a position. Returns the number of messages
    /// dropped.
    std::uint64_t conflate(SegmentLog& own, const std::function<std::uint32_t(std::uint64_t position)>& tick_at);
    /// Drops everything, including data in flight. Counts the messages run by run instead of using messages().
    std::uint64_t drop_all() noexcept;
    /// Makes data in flight pending again: messages that were partly sent or claimed will be sent again from the start.
    /// Data that was copied aside has no start and is dropped. Returns the number of messages dropped.
    std::uint64_t restart() noexcept;

    /// Drops the next message. Nothing may be in flight, and there must be a message. Returns 1.
    std::uint64_t drop_first_message() noexcept;

    /// Calls `each(segment, slice, messages)` for every run, oldest first, and removes the run. For a caller that
    /// hands the messages to another thread instead of sending them.
    template <class Each>
    void take_runs(const Each& each) {
        while (size_ > 0) {
            messages_ -= run(0).messages;
            bytes_ -= run(0).end - run(0).begin;
            Run head = std::move(run(0));
            pop_run();
            const Slice slice{head.segment.get(), head.begin, head.end};
            each(std::move(head.segment), slice, head.messages);
        }
    }

    /// Returns where the first run begins that drop_before() could drop; nullopt if there is none. Runs of add_own()
    /// have no position.
    [[nodiscard]] std::optional<std::uint64_t> oldest_position() const noexcept;
    /// Returns the log position of the held segment; nullopt if no segment is held.
    [[nodiscard]] std::optional<std::uint64_t> held_position() const noexcept;
    [[nodiscard]] bool is_under_way() const noexcept { return !at_boundary() || claimed_ > 0; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0 && rest_.empty(); }
    /// Returns whether the next byte to send starts a message.
    [[nodiscard]] bool at_boundary() const noexcept { return rest_.empty() && partial_ == 0; }
    /// Returns the number of bytes up to the next message boundary.
    [[nodiscard]] std::size_t bytes_to_boundary() const noexcept;
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    /// Returns whether messages of add_own() are pending, and their bytes; a partly sent message counts in full.
    [[nodiscard]] bool has_own() const noexcept { return own_runs_ > 0; }
    [[nodiscard]] std::size_t own_bytes() const noexcept;
    /// Returns whether messages are pending besides the held one and those of put_first().
    [[nodiscard]] bool has_waiting() const noexcept { return size_ > (hold_.is_set() ? 1U : 0U); }
    [[nodiscard]] bool has_run() const noexcept { return size_ < runs_max_; }
    /// Returns the number of runs that add() can start before it drops any.
    [[nodiscard]] std::size_t runs_left() const noexcept { return size_ < runs_max_ ? runs_max_ - size_ : 0; }

  private:
    struct Run {
        SegmentRef segment;
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        std::uint32_t messages = 0;
        std::uint32_t own_tick = 0;  // set by add_own(); 0 for add()
    };

    [[nodiscard]] Run& run(std::size_t index) noexcept { return ring_[(first_ + index) & (ring_.size() - 1)]; }
    [[nodiscard]] const Run& run(std::size_t index) const noexcept {
        return ring_[(first_ + index) & (ring_.size() - 1)];
    }
    std::uint64_t add_run(const Slice& message, std::uint32_t own_tick);
    [[gnu::noinline]] std::uint64_t add_run_when_full(const Slice& message, std::uint32_t own_tick);
    void push_run(const Slice& message, std::uint32_t own_tick) noexcept;
    void refuse(const Slice& messages, bool is_own) noexcept;
    void report_lost(const Run& part, std::size_t begin) const;
    void resize_ring(std::size_t runs);
    void shrink_if_empty();
    void pop_run() noexcept;
    std::uint64_t drop_oldest_run();
    std::uint64_t drop_second_run() noexcept;
    std::uint64_t hold_first_run(std::size_t bytes) noexcept;
    [[nodiscard]] std::size_t bytes_under_way(const Run& head) const noexcept;
    std::uint64_t set_aside(const Run& head, std::size_t bytes);
    void set_aside_under_way();
    std::vector<Run> take_waiting();
    [[nodiscard]] static std::vector<bool> newest_of(const std::vector<Run>& runs);
    void split(std::size_t index, std::uint32_t at);
    std::uint64_t conflate_into(SegmentLog& own, std::vector<Run>& old, const std::vector<bool>& is_newest,
                                const std::function<std::uint32_t(std::uint64_t position)>& tick_at);
    std::uint64_t consume_rest(std::size_t bytes) noexcept;
    std::uint64_t consume_within(Run& head, std::size_t bytes) noexcept;

    const std::size_t runs_max_;
    std::vector<Run> ring_;  // size is a power of two
    std::size_t first_ = 0;
    std::size_t size_ = 0;
    std::size_t most_ = 0;         // largest number of runs since it was last empty
    std::size_t partial_ = 0;      // bytes already sent of the first message of the first run
    std::size_t claimed_ = 0;      // bytes from the front
    SegmentHold hold_;             // of the first run, which then has only data in flight
    std::vector<std::byte> rest_;  // data that was in flight when its run was dropped
    std::size_t rest_sent_ = 0;
    std::size_t rest_boundary_ = 0;  // end of the next message in rest_
    std::uint64_t messages_ = 0;     // pending messages, including those in flight
    std::size_t bytes_ = 0;
    std::size_t own_runs_ = 0;  // runs of add_own()
    const LossCall* lost_ = nullptr;
    bool refuses_ = false;
    bool refuses_when_full_ = false;
};

}  // namespace telegate
