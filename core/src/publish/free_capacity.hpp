#pragma once

#include "buffers/segment_log.hpp"
#include "peers/peer_table.hpp"
#include "publish/shard_queue.hpp"
#include "session/write_cursor.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace telegate {

/// Returns how far the sessions of a table are behind.
[[nodiscard]] ReadProgress progress_of(const PeerTable& peers) noexcept;

/// Reports whether a publisher's log can take one more message without a loss for any subscriber. The progress last
/// seen is a lower bound, since subscribers only advance, so it is read again only when it is not sufficient.
///
/// Threads: the reactor's. Limits: none. Failure: none.
class FreeCapacity {
  public:
    /// `backlog_bytes_max`: how far the log's end may be ahead of the slowest subscriber.
    FreeCapacity(const SegmentLog& log, const WriteCursor& cursor, const PeerTable& peers,
                 std::size_t backlog_bytes_max) noexcept
        : log_(log), cursor_(cursor), peers_(peers), backlog_bytes_max_(backlog_bytes_max) {}

    /// Includes the subscribers on other threads.
    void share(std::span<const std::unique_ptr<ShardQueue>> queues) noexcept { queues_ = queues; }

    /// Changes how far the slowest subscriber may be behind.
    void set_backlog_bytes_max(std::size_t bytes) noexcept {
        backlog_bytes_max_ = bytes;
        oldest_ = 0;
    }

    /// Returns true if there is capacity. `added`: counts the messages that may have begun a range; those in the log's
    /// write cursor have not.
    [[nodiscard]] bool has_room(std::size_t message_bytes, std::uint64_t added) noexcept {
        if (cursor_.fits(message_bytes) && added < added_max_) {  // without a new segment, the log's end does not move
            return true;
        }
        const std::uint64_t end = log_.end_with(cursor_.taken_bytes() + message_bytes);
        return is_known(end, added) || refresh(end, added);
    }

  private:
    [[nodiscard]] bool is_known(std::uint64_t end, std::uint64_t added) const noexcept {
        return (end <= oldest_ + backlog_bytes_max_ || end == log_.end()) && added < added_max_;
    }
    [[nodiscard]] bool refresh(std::uint64_t end, std::uint64_t added) noexcept;
    [[nodiscard]] bool read_progress(std::uint64_t end, std::uint64_t added) noexcept;

    const SegmentLog& log_;
    const WriteCursor& cursor_;
    const PeerTable& peers_;
    std::uint64_t backlog_bytes_max_;
    std::span<const std::unique_ptr<ShardQueue>> queues_;
    std::uint64_t oldest_ = 0;     // nothing pending lies before this position in the log
    std::uint64_t added_max_ = 0;  // below this count, every subscriber can take another range
};

}  // namespace telegate
