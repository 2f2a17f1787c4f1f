#pragma once

#include "segment_log.hpp"

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace telegate {

/// What one subscriber has yet to receive: stretches of the log, oldest first, and how far the first one is sent.
///
/// Neighbouring messages coalesce, so a subscriber of everything has one run per segment however many messages there
/// are. A message that is partly sent is always finished, also when it is given up by give_up_before().
///
/// Threads: the log's.
/// Limits:  runs_max runs; add() gives up the oldest run beyond that. The bytes are the log's, bounded by the owner
///          calling give_up_before().
/// Failure: add() and consume() may throw std::bad_alloc while the ring of runs changes its size.
class Backlog {
  public:
    explicit Backlog(std::size_t runs_max);

    /// One more message. Returns how many messages were given up to stay within runs_max.
    std::uint64_t add(const Slice& message);

    /// Fills `out` with what is to be sent next and returns how many entries it used. Beginning at a message boundary,
    /// except when at_boundary() is false: then the first entry is the rest of one message.
    [[nodiscard]] std::size_t gather(std::span<iovec> out) const noexcept;
    /// The first `bytes` of what gather() gave are sent. Returns how many messages that completed.
    std::uint64_t consume(std::size_t bytes);

    /// Gives up every run that begins before `position` in the log; returns how many messages. What is left of a
    /// message that is partly sent is copied aside, so that its segment is free.
    std::uint64_t give_up_before(std::uint64_t position);
    /// Gives up everything, the rest of a partly sent message included. Counted run by run, not from messages().
    std::uint64_t give_up_all() noexcept;

    [[nodiscard]] bool empty() const noexcept { return size_ == 0 && rest_.empty(); }
    /// Whether the next byte to send starts a message.
    [[nodiscard]] bool at_boundary() const noexcept { return rest_.empty() && partial_ == 0; }
    /// Bytes up to the next message boundary.
    [[nodiscard]] std::size_t bytes_to_boundary() const noexcept;
    [[nodiscard]] std::uint64_t messages() const noexcept { return messages_; }
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

  private:
    struct Run {
        SegmentRef segment;
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        std::uint32_t messages = 0;
    };

    [[nodiscard]] Run& run(std::size_t index) noexcept { return ring_[(first_ + index) & (ring_.size() - 1)]; }
    [[nodiscard]] const Run& run(std::size_t index) const noexcept {
        return ring_[(first_ + index) & (ring_.size() - 1)];
    }
    void resize_ring(std::size_t runs);
    void shrink_if_empty();
    void pop_run() noexcept;
    std::uint64_t give_up_first_run();
    std::uint64_t consume_within(Run& head, std::size_t bytes) noexcept;

    const std::size_t runs_max_;
    std::vector<Run> ring_;  // a power of two
    std::size_t first_ = 0;
    std::size_t size_ = 0;
    std::size_t partial_ = 0;      // bytes already sent of the first message of the first run
    std::vector<std::byte> rest_;  // of a message whose segment was given up while it was being sent
    std::size_t rest_sent_ = 0;
    std::uint64_t messages_ = 0;  // waiting, the partly sent one included
    std::size_t bytes_ = 0;
};

}  // namespace telegate
