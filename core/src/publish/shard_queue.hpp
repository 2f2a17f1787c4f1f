#pragma once

#include "buffers/ring.hpp"
#include "buffers/segment_log.hpp"
#include "core/limits.hpp"
#include "publish/shard_link.hpp"
#include "session/outbox.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

class ShardQueue;

/// The calls from a queue to its publisher.
struct ShardQueueCalls {
    std::function<void()> catch_up;  // has the shard apply everything in the link, and waits for it
    /// Reports that a session loses these messages. Called before they are dropped, once for each session.
    std::function<void(const ShardReader& reader, const LostRun& run)> lost;
};

/// A counted reference to the readers of a queue. Must be destroyed before the queue.
/// Threads: the queue's. Limits: two pointers. Failure: none.
class ShardReadersRef {
  public:
    ShardReadersRef(ShardQueue& queue, ShardReaders& readers) noexcept : queue_(&queue), readers_(&readers) {
        ++readers_->uses;
    }
    ShardReadersRef(ShardReadersRef&& other) noexcept
        : queue_(other.queue_), readers_(std::exchange(other.readers_, nullptr)) {}
    ShardReadersRef& operator=(ShardReadersRef&& other) noexcept {
        std::swap(queue_, other.queue_);
        std::swap(readers_, other.readers_);
        return *this;
    }
    ~ShardReadersRef();

    [[nodiscard]] ShardQueue& queue() const noexcept { return *queue_; }
    [[nodiscard]] ShardReaders& readers() const noexcept { return *readers_; }

  private:
    ShardQueue* queue_;
    ShardReaders* readers_;
};

/// The publisher's end of the link to one shard. To the log it is a single reader: its outbox() gets the messages that
/// sessions of the shard want. The queue passes them on as ranges, each with its readers, and keeps what the shard
/// cannot take yet. If that is too much, the publisher waits for the shard, which applies the policies of its
/// subscribers. The shard reads the log's own memory; a segment is not reused while the shard may read it.
///
/// Threads: the publisher's.
/// Limits: backlog_runs_max ranges and messages for single sessions, within backlog_bytes_max of the log's end, and as
/// many bytes of such messages. The shard receives at most as much again. If it cannot take anything, because it is out
/// of memory or must close its sessions, the oldest messages are dropped and reported; the shard gets their number.
/// Failure: begin(), ref_to(), send_to() and flush() may throw std::bad_alloc.
class ShardQueue {
  public:
    /// Must be destroyed after the reader at the other end of the link. `backlog_bytes_max`: as of the log.
    ShardQueue(ShardLink& link, SegmentPool& pool, std::size_t backlog_bytes_max, ShardQueueCalls calls);
    ShardQueue(const ShardQueue&) = delete;
    ShardQueue& operator=(const ShardQueue&) = delete;

    void share(WriteCursor& cursor) noexcept { outbox_.share(cursor); }
    [[nodiscard]] Outbox& outbox() noexcept { return outbox_; }
    /// Returns a reference to a list of readers. Equal lists share one set of readers.
    [[nodiscard]] ShardReadersRef ref_to(std::vector<ShardReader> list);
    /// Sets the readers of what is added to outbox() next.
    void begin(ShardReaders& readers) {
        collect();
        readers_ = &readers;
    }
    /// Adds a message for one session, after all earlier messages.
    void send_to(const ShardReader& reader, std::string_view topic, std::string_view payload,
                 const std::optional<SampleRange>& samples);
    /// Passes on data that is too far behind, after a segment was opened that begins at `position` and ends at
    /// `log_end`.
    void enforce(std::uint64_t log_end, std::uint64_t position);

    /// Passes on as much as the shard can take, and wakes it. The rest waits until the shard reports progress, which
    /// calls flush() again.
    void flush();
    /// Returns whether the shard was passed everything.
    [[nodiscard]] bool empty() const noexcept { return !is_anything_waiting() && losses_.empty(); }
    /// Drops everything that was not passed on.
    void drop_all();

    /// Returns the number of reader lists.
    [[nodiscard]] std::size_t lists() const noexcept { return lists_.size(); }

    /// Returns a lower bound, including what is pending here and in the link.
    [[nodiscard]] ReadProgress progress() const noexcept;
    /// Has the shard wake the publisher when nothing before `oldest` is pending and one more range fits.
    void await_room(std::uint64_t oldest) noexcept;
    /// Returns whether the publisher must wait for a blocking subscriber of the shard before the log's end becomes
    /// `log_end`. Then has the shard wake the publisher when it need no longer wait.
    [[nodiscard]] bool must_wait(std::uint64_t log_end) noexcept;

  private:
    friend class ShardReadersRef;

    /// A range of the log, or a message for one session.
    struct Entry {
        SegmentRef segment;
        ShardReaders* readers = nullptr;
        std::uint32_t begin = 0;
        std::uint32_t end = 0;
        std::uint32_t messages = 0;
        std::unique_ptr<LinkNote> message;
        std::uint64_t position = 0;  // nothing that was added later is before it
        std::uint64_t log_end = 0;

        [[nodiscard]] std::uint64_t end_position() const noexcept { return position + (end - begin); }
    };
    struct LeaseEntry final : SegmentLease {
        std::list<LeaseEntry>::iterator self;
    };
    /// The known properties of a record that the shard may not have applied yet.
    struct Sent {
        std::uint64_t position = 0;
        std::uint64_t log_end = 0;
    };

    [[nodiscard]] bool is_anything_waiting() const noexcept { return first_ < waiting_.size(); }
    void collect();
    void add(Entry entry);
    void push(Entry entry);
    template <class Condition>
    void make_room(const Condition& is_too_much);
    void pass_on();
    void drop_oldest();
    void lose(std::span<const ShardReader> readers, std::uint64_t messages, const LostRun& run);
    void pop() noexcept;
    void reclaim_leases() noexcept;
    [[nodiscard]] bool can_put(const Entry& entry) noexcept;
    [[nodiscard]] bool put_losses();
    void put(Entry& entry);
    void put_note(std::unique_ptr<LinkNote> note, std::uint64_t log_end) noexcept;
    void put_log_end();
    void release(ShardReaders& readers) noexcept;
    void forget_unused();
    [[nodiscard]] std::uint64_t entries_made() const noexcept;
    [[nodiscard]] std::uint64_t next_position() const noexcept;
    [[nodiscard]] std::uint64_t oldest_not_applied(std::uint64_t applied) const noexcept;
    [[nodiscard]] bool blocks(std::uint64_t log_end) const noexcept;

    ShardLink& link_;
    const std::uint64_t backlog_bytes_max_;
    const ShardQueueCalls calls_;
    Outbox outbox_;                    // messages since begin()
    ShardReaders* readers_ = nullptr;  // their readers
    std::vector<Entry> waiting_;       // valid from first_ on
    std::size_t first_ = 0;
    std::size_t message_bytes_ = 0;      // of the messages for single sessions in waiting_
    std::size_t message_bytes_put_ = 0;  // of those that the shard may not have applied; an upper bound
    ShardLosses losses_;                 // not passed on yet; older than everything in waiting_
    std::map<std::vector<ShardReader>, ShardReaders> lists_;
    std::size_t unused_ = 0;         // lists without users
    std::list<LeaseEntry> leases_;   // not released yet
    SegmentLease* lease_ = nullptr;  // of the segment passed on last, while more of it may follow
    std::uint64_t log_end_ = 0;
    std::uint64_t segment_start_ = 0;  // of the last segment opened
    std::uint64_t put_end_ = 0;        // end of the range passed on last
    std::uint64_t log_end_reported_ = 0;
    std::uint64_t window_begin_ = 0;  // log end of the last record added while the shard had applied all others
    std::uint64_t published_ = 0;
    Ring<Sent, 2 * limits::link_records_max> sent_;  // by record; twice as many as may not be applied yet
};

inline ShardReadersRef::~ShardReadersRef() {
    if (readers_ != nullptr) {
        queue_->release(*readers_);
    }
}

}  // namespace telegate
