#pragma once

#include "buffers/segment_log.hpp"
#include "core/assert.hpp"
#include "core/bytes.hpp"
#include "core/delivery.hpp"
#include "session/backlog.hpp"
#include "session/write_cursor.hpp"
#include "zmtp/frame.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

namespace telegate {

class SlowReader;

/// The messages to be sent to one peer, with their counts. Outlives a lost connection if another one follows (Dealer).
/// `matched = sent + dropped + backlog.messages()` always holds: every function that reads or changes the state first
/// settles the cursor, its own or the shared one.
///
/// Threads: the reactor's thread.
/// Limits: see Backlog; append() does not check the limit in bytes, has_room() does.
/// Failure: append() and add() may throw std::bad_alloc.
class Outbox {
  public:
    explicit Outbox(SegmentPool& pool);
    ~Outbox();
    Outbox(const Outbox&) = delete;
    Outbox& operator=(const Outbox&) = delete;

    /// Uses a shared cursor from now on: messages come from add() and from `cursor`, which must outlive that use.
    void share(WriteCursor& cursor) noexcept { cursor_ = &cursor; }
    void settle() const noexcept { cursor_->settle(); }

    /// Adds one message from a shared log.
    void add(const Slice& message) {
        settle();
        if (const std::uint64_t lost = backlog_.add(message); lost > 0) {
            lose(LossReason::slow, lost);
        }
        ++matched_;  // last, because add() may throw
    }
    /// For WriteCursor: adds `messages` messages that follow the last one in its segment.
    void extend(const Slice& added, std::uint64_t messages) noexcept {
        matched_ += messages;
        if (!backlog_.extend(added, messages)) {
            lose(LossReason::slow, messages);
        }
    }
    /// Appends one message to its own log: copies the frames or texts, at least one, with their headers.
    template <class Frames>
    void append(const Frames& frames);
    /// After append(): allows append_at_cursor() to add up to `bytes_max` bytes, until the outbox is used in any other
    /// way.
    void open_cursor(std::size_t bytes_max) noexcept { own_cursor_.open(log_, {&self_, 1}, bytes_max); }
    /// Like append(), but uses the open cursor. Returns false and does nothing if the cursor is full or closed.
    template <class Frames>
    [[nodiscard]] bool append_at_cursor(const Frames& frames) noexcept;
    /// Like append_at_cursor(), for one nonempty body that needs only a short header, in a few steps. Returns false for
    /// any other body.
    template <class Body>
    [[nodiscard]] bool append_short_at_cursor(const Body& body) noexcept;
    /// Returns the number of bytes that both functions have added so far.
    [[nodiscard]] std::uint64_t cursor_bytes() const noexcept { return own_cursor_.bytes(); }
    /// Counts `messages` more messages that were already dropped and reported, see ShardQueue. They are missing after
    /// the pending messages.
    void add_lost(std::uint64_t messages);
    /// Appends one finished frame that is a message by itself, such as a command.
    void append_wire(Bytes wire);
    /// Returns whether a message can be added without exceeding `bytes_max`. An empty outbox accepts any message. A
    /// refusal is remembered until end_refusal().
    [[nodiscard]] bool has_room(std::size_t message_bytes, std::size_t bytes_max) noexcept;

    /// Returns whether has_room() has returned false since the last end_refusal().
    [[nodiscard]] bool refused() const noexcept { return refused_; }
    void end_refusal() noexcept { refused_ = false; }
    /// Records a refusal, as if has_room() had returned false.
    void record_refusal() noexcept { refused_ = true; }

    [[nodiscard]] Backlog& backlog() noexcept {
        settle();
        return backlog_;
    }
    [[nodiscard]] const Backlog& backlog() const noexcept {
        settle();
        return backlog_;
    }
    /// Gathers the data to send next, like Backlog::gather(). While losses are to be reported, only the data before
    /// them.
    [[nodiscard]] std::size_t gather(std::span<StreamPart> out) const noexcept;
    /// Lets the peer be notified of losses if its stream has reached them. Must be called before gather().
    void write_notices() {
        if (slow_ != nullptr) {
            write_notices_now();
        }
    }
    /// Removes the first `bytes` from gather(), which the kernel has taken. Returns the number of messages completed.
    std::uint64_t consume(std::size_t bytes);
    void drop_before(std::uint64_t log_position);
    /// Drops all messages and counts them as `disconnected`.
    void drop_all() noexcept;
    /// Prepares for the next connection after a lost one: data in flight is sent again from the start of its message,
    /// or dropped if that start is gone. `was_cut`: some bytes of the next message had been sent; that message is
    /// dropped when this happens for the cuts_per_message_max-th time.
    void restart_partial(bool was_cut) noexcept;

    [[nodiscard]] std::uint64_t matched() const noexcept {
        settle();
        return matched_;
    }
    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
    [[nodiscard]] std::uint64_t dropped() const noexcept;
    [[nodiscard]] const std::array<Losses, loss_reasons>& losses() const noexcept { return losses_; }

    /// Returns null unless the peer has its own policy or is notified of losses.
    [[nodiscard]] SlowReader* slow() const noexcept { return slow_.get(); }
    /// Sets how the peer is treated from now on when it reads slowly.
    void set_slow(std::unique_ptr<SlowReader> slow);
    /// Returns the peer's own limit on its backlog, or `bytes_max` if it has none.
    [[nodiscard]] std::size_t bytes_max_or(std::size_t bytes_max) const noexcept;

  private:
    friend class SlowReader;
    void lose(LossReason reason, std::uint64_t messages) noexcept;
    void write_notices_now();
    void release_if_empty() noexcept;

    SegmentLog log_;          // for append(); has no segment while the backlog is empty
    WriteCursor own_cursor_;  // of log_
    WriteCursor* cursor_ = &own_cursor_;
    Outbox* const self_ = this;  // the reader of its own cursor
    Backlog backlog_;
    std::uint64_t matched_ = 0;
    std::uint64_t sent_ = 0;
    std::array<Losses, loss_reasons> losses_{};
    std::unique_ptr<SlowReader> slow_;
    unsigned cuts_ = 0;  // connections lost in the middle of the next message
    bool refused_ = false;
};

template <class Frames>
void Outbox::append(const Frames& frames) {
    TELEGATE_ASSERT(frames.size() > 0);
    settle();
    const std::size_t bytes = zmtp::message_bytes(frames);
    zmtp::write_message(log_.prepare(bytes), frames);
    add(log_.commit(bytes));
}

template <class Body>
bool Outbox::append_short_at_cursor(const Body& body) noexcept {
    constexpr std::size_t header_bytes = zmtp::frame_header_bytes(1);
    if (body.size() - 1 >= zmtp::short_body_bytes_max || !own_cursor_.has_room(header_bytes + body.size())) {
        return false;
    }
    std::byte* const out = own_cursor_.next();
    own_cursor_.add(header_bytes + body.size());
    zmtp::write_short_frame_header(out, 0, body.size());
    std::memcpy(out + header_bytes, body.data(), body.size());
    return true;
}

template <class Frames>
bool Outbox::append_at_cursor(const Frames& frames) noexcept {
    const std::size_t bytes = zmtp::message_bytes(frames);
    if (bytes == 0 || !own_cursor_.has_room(bytes)) {
        return false;
    }
    std::byte* const out = own_cursor_.next();
    own_cursor_.add(bytes);
    zmtp::write_message(out, frames);
    return true;
}

}  // namespace telegate
