#pragma once

#include "buffers/segment_log.hpp"
#include "peers/peer_table.hpp"
#include "publish/lane.hpp"
#include "session/tail.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace telegate {

/// Returns how far the sessions of a table are behind.
[[nodiscard]] LaneProgress progress_of(const PeerTable& peers) noexcept;

/// Tells whether a publisher's log can take one more message without a loss for any subscriber. The progress last seen
/// is a lower bound, since subscribers only advance, so it is read again only when it is not sufficient.
///
/// Threads: the reactor's. Limits: none. Failure: none.
class FreeCapacity {
  public:
    /// `backlog_bytes_max`: how far the log's end may be ahead of the slowest subscriber.
    FreeCapacity(const SegmentLog& log, const Tail& tail, const PeerTable& peers,
                 std::size_t backlog_bytes_max) noexcept
        : log_(log), tail_(tail), peers_(peers), backlog_bytes_max_(backlog_bytes_max) {}

    /// Includes the subscribers on other threads.
    void share(std::span<const std::unique_ptr<Lane>> lanes) noexcept { lanes_ = lanes; }

    /// Changes how far the slowest subscriber may be behind.
    void set_backlog_bytes_max(std::size_t bytes) noexcept {
        backlog_bytes_max_ = bytes;
        oldest_ = 0;
    }

    /// Returns true if there is capacity. `given`: counts the messages that may have begun a range; those in the log's
    /// tail have not.
    [[nodiscard]] bool has_room(std::size_t message_bytes, std::uint64_t given) noexcept {
        if (tail_.fits(message_bytes) && given < given_max_) {  // without a new segment, the log's end does not move
            return true;
        }
        const std::uint64_t end = log_.end_with(tail_.taken_bytes() + message_bytes);
        return is_known(end, given) || look(end, given);
    }

  private:
    [[nodiscard]] bool is_known(std::uint64_t end, std::uint64_t given) const noexcept {
        return (end <= oldest_ + backlog_bytes_max_ || end == log_.end()) && given < given_max_;
    }
    [[nodiscard]] bool look(std::uint64_t end, std::uint64_t given) noexcept;
    [[nodiscard]] bool see(std::uint64_t end, std::uint64_t given) noexcept;

    const SegmentLog& log_;
    const Tail& tail_;
    const PeerTable& peers_;
    std::uint64_t backlog_bytes_max_;
    std::span<const std::unique_ptr<Lane>> lanes_;
    std::uint64_t oldest_ = 0;     // nothing pending lies before this position in the log
    std::uint64_t given_max_ = 0;  // below this count, every subscriber can take another range
};

}  // namespace telegate
