#pragma once

#include "backlog.hpp"
#include "core/bytes.hpp"
#include "segment_log.hpp"

#include <cstddef>
#include <cstdint>
#include <span>

namespace telegate {

/// What waits to be sent to one peer, with its counts. It outlives a lost connection where another follows (Dealer).
/// `matched = sent + dropped + backlog.messages()`, always.
///
/// Threads: the reactor's.
/// Limits:  see Backlog; append() leaves the bound in bytes to has_room().
/// Failure: append() and add() may throw std::bad_alloc.
class Outbox {
  public:
    explicit Outbox(SegmentPool& pool);

    /// One more message that lies in a shared log.
    void add(const Slice& message) {
        ++matched_;
        dropped_ += backlog_.add(message);
    }
    /// One more message of its own: copies the frames, one at least, with their headers.
    void append(std::span<const Bytes> frames);
    /// One finished frame that is a message by itself, such as a command.
    void append_wire(Bytes wire);
    /// Whether a message may be added without passing `bytes_max`. An empty outbox takes any message. A refusal is
    /// remembered until end_refusal().
    [[nodiscard]] bool has_room(std::size_t message_bytes, std::size_t bytes_max) noexcept;
    /// Bytes that append() of these frames takes.
    [[nodiscard]] static std::size_t wire_bytes(std::span<const Bytes> frames) noexcept;

    /// Whether has_room() has said no since the last end_refusal().
    [[nodiscard]] bool refused() const noexcept { return refused_; }
    void end_refusal() noexcept { refused_ = false; }

    [[nodiscard]] Backlog& backlog() noexcept { return backlog_; }
    [[nodiscard]] const Backlog& backlog() const noexcept { return backlog_; }
    /// `bytes` of what backlog().gather() gave are with the kernel. Returns messages completed.
    std::uint64_t consume(std::size_t bytes);
    void give_up_before(std::uint64_t log_position);
    void give_up_all() noexcept;
    /// The connection is lost and another will follow: what was under way is to be sent again from its start, or given
    /// up where its beginning is no longer there. `was_cut`: some bytes of the message that comes next had been sent;
    /// that message is given up when it happens for the cuts_per_message_max-th time.
    void restart_partial(bool was_cut) noexcept;

    [[nodiscard]] std::uint64_t matched() const noexcept { return matched_; }
    [[nodiscard]] std::uint64_t sent() const noexcept { return sent_; }
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

  private:
    void release_if_empty() noexcept;

    SegmentLog log_;  // of append(); has no segment while the backlog is empty
    Backlog backlog_;
    std::uint64_t matched_ = 0;
    std::uint64_t sent_ = 0;
    std::uint64_t dropped_ = 0;
    unsigned cuts_ = 0;  // connections lost in the middle of the message that comes next
    bool refused_ = false;
};

}  // namespace telegate
