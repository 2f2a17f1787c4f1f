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

/// Bytes of the whole message, all its frames, that starts at `wire`, which is wire bytes of ours.
[[nodiscard]] std::size_t message_bytes_at(const std::byte* wire) noexcept;

/// The first frame of a message of two or more, and its second; of one frame only the second.
struct MessageView {
    Bytes topic;
    Bytes payload;
    std::size_t bytes;  // on the wire, of all its frames
};
/// The message that starts at `wire`, which is wire bytes of ours.
[[nodiscard]] MessageView message_view_at(const std::byte* wire) noexcept;

/// What one peer has yet to receive: stretches of a log, oldest first, and how far the first one is sent.
///
/// Neighbouring messages coalesce, so a subscriber of everything has one run per segment however many messages there
/// are. A message that is under way, partly sent or claimed, is always finished, also when it is given up by
/// give_up_before(): up to rest_bytes_max of it are copied aside, of a larger one the segment is held.
///
/// Threads: the log's.
/// Limits:  runs_max runs, besides one that is held; add() gives up the oldest run beyond that. The log's bytes are
///          bounded by the owner, which calls give_up_before() and looks at SegmentPool::held_bytes().
/// Failure: add(), consume(), conflate() and what gives up in part may throw std::bad_alloc.
class Backlog {
  public:
    explicit Backlog(std::size_t runs_max);

    /// One more message. Returns how many messages were given up to stay within runs_max.
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

    /// `messages` more, which follow the last one in its segment. False when that one was refused, and so are these.
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
    /// One more message, which lies in a log of the peer's own. `tick`: when it was published, from 1, see AgeMarks.
    std::uint64_t add_own(const Slice& message, std::uint32_t tick);
    /// These messages go before all others; nothing is under way. Never given up but by give_up_all().
    void put_first(std::vector<std::byte> wire, std::uint64_t messages);

    /// Hears of what is given up by its age or to stay within a limit, whole messages, before it goes. Neither
    /// give_up_all() nor conflate() tells.
    using LossCall = std::function<void(const LostRun& run)>;
    void tell_losses(const LossCall& lost) noexcept { lost_ = &lost; }

    /// While it refuses, nothing is added: add() returns 1, extend() false. To be begun when what is added next does
    /// not follow the last run in its segment.
    void set_refusing(bool refuses) noexcept { refuses_ = refuses; }
    [[nodiscard]] bool refuses() const noexcept { return refuses_; }
    /// Beyond runs_max it refuses, instead of giving up the oldest run.
    void set_refusing_when_full(bool refuses) noexcept { refuses_when_full_ = refuses; }

    /// Fills `out` with what is to be sent next and returns how many entries it used. Beginning at a message boundary,
    /// except when at_boundary() is false: then the first entry is the rest of what is under way. Every entry ends
    /// with a message.
    [[nodiscard]] std::size_t gather(std::span<StreamPart> out) const noexcept;
    /// The same of what has begun, and of what put_first() has put; at_boundary() is false.
    [[nodiscard]] std::size_t gather_under_way(std::span<StreamPart> out) const noexcept;
    /// The first `bytes` of what gather() gave, whole messages, are on their way in another form: give_up_before() no
    /// longer reaches them. At most rest_bytes_max, or one message.
    void claim(std::size_t bytes) noexcept { claimed_ = bytes; }
    /// The first `bytes` of what gather() gave are sent. Returns how many messages that completed.
    std::uint64_t consume(std::size_t bytes);

    /// Gives up every run that begins before `position` in the log; returns how many messages. What is under way is
    /// copied aside, so that its segment is free, or held.
    std::uint64_t give_up_before(std::uint64_t position);
    /// Gives up what lies before `position`, whole messages, and of what was added by add_own() that up to `tick`.
    std::uint64_t give_up_older(std::uint64_t position, std::uint32_t tick);
    /// Gives up the oldest until at most `bytes_max` are left, or what is under way.
    std::uint64_t give_up_to(std::size_t bytes_max);
    /// Leaves the newest message of each topic, and those of one frame, copied to `own`, where they pin nothing.
    /// `tick_at(position)` tells when something was published. Returns how many were given up.
    std::uint64_t conflate(SegmentLog& own, const std::function<std::uint32_t(std::uint64_t position)>& tick_at);
    /// Gives up everything, what is under way included. Counted run by run, not from messages().
    std::uint64_t give_up_all() noexcept;
    /// Nothing is under way any more: what was partly sent or claimed is to be sent again from its start. What was
    /// copied aside has no start any more; returns how many messages were given up for that.
    std::uint64_t restart() noexcept;

    /// Gives up the message that comes next; nothing is under way, and there is one. Returns how many: one.
    std::uint64_t give_up_first_message() noexcept;

    /// Calls `each(segment, slice, messages)` for every run, the oldest first, and forgets them. For who passes on what
    /// nobody sends from here.
    template <class Each>
    void take_runs(const Each& each) {
        while (size_ > 0) {
            Run& head = run(0);
            messages_ -= head.messages;
            bytes_ -= head.end - head.begin;
            const Slice slice{head.segment.get(), head.begin, head.end};
            each(std::move(head.segment), slice, head.messages);
            pop_run();
        }
    }

    /// Where the first run begins that give_up_before() could give up; nullopt for none. Those of add_own() lie
    /// nowhere.
    [[nodiscard]] std::optional<std::uint64_t> oldest_position() const noexcept;
    /// Where the segment lies in the log that is held; nullopt for none.
    [[nodiscard]] std::optional<std::uint64_t> held_position() const noexcept;
    [[nodiscard]] bool is_under_way() const noexcept { return !at_boundary() || claimed_ > 0; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0 && rest_.empty(); }
    /// Whether the next byte to send starts a message.
    [[nodiscard]] bool at_boundary() const noexcept { return rest_.empty() && partial_ == 0; }
    /// Bytes up to the next message boundary.
    [[nodiscard]] std::size_t bytes_to_boundary() const noexcept;
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    /// Whether something of add_own() waits, and how much of it, partly sent messages as a whole.
    [[nodiscard]] bool has_own() const noexcept { return own_runs_ > 0; }
    [[nodiscard]] std::size_t own_bytes() const noexcept;
    /// Whether something waits beside what is held, or was put first.
    [[nodiscard]] bool has_waiting() const noexcept { return size_ > (hold_.is_set() ? 1U : 0U); }
    [[nodiscard]] bool has_run() const noexcept { return size_ < runs_max_; }
    /// Runs that add() can begin before it gives up any.
    [[nodiscard]] std::size_t runs_left() const noexcept { return size_ < runs_max_ ? runs_max_ - size_ : 0; }

  private:
    struct Run {
        SegmentRef segment;
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        std::uint32_t messages = 0;
        std::uint32_t own_tick = 0;  // of add_own(); 0: of add()
    };

    [[nodiscard]] Run& run(std::size_t index) noexcept { return ring_[(first_ + index) & (ring_.size() - 1)]; }
    [[nodiscard]] const Run& run(std::size_t index) const noexcept {
        return ring_[(first_ + index) & (ring_.size() - 1)];
    }
    std::uint64_t add_run(const Slice& message, std::uint32_t own_tick);
    [[gnu::noinline]] std::uint64_t add_run_when_full(const Slice& message, std::uint32_t own_tick);
    void push_run(const Slice& message, std::uint32_t own_tick) noexcept;
    void refuse(const Slice& messages, bool is_own) noexcept;
    void tell_lost(const Run& part, std::size_t begin) const;
    void resize_ring(std::size_t runs);
    void shrink_if_empty();
    void pop_run() noexcept;
    std::uint64_t give_up_oldest_run();
    std::uint64_t give_up_second_run() noexcept;
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
    std::vector<Run> ring_;  // a power of two
    std::size_t first_ = 0;
    std::size_t size_ = 0;
    std::size_t most_ = 0;         // runs at once, since it was last empty
    std::size_t partial_ = 0;      // bytes already sent of the first message of the first run
    std::size_t claimed_ = 0;      // bytes from the front
    SegmentHold hold_;             // of the first run, which has only what is under way then
    std::vector<std::byte> rest_;  // what was under way when its run was given up
    std::size_t rest_sent_ = 0;
    std::size_t rest_boundary_ = 0;  // end of the message in rest_ that comes next
    std::uint64_t messages_ = 0;     // waiting, those under way included
    std::size_t bytes_ = 0;
    std::size_t own_runs_ = 0;  // of add_own()
    const LossCall* lost_ = nullptr;
    bool refuses_ = false;
    bool refuses_when_full_ = false;
};

}  // namespace telegate
