#pragma once

#include "buffers/ring.hpp"
#include "buffers/segment_log.hpp"
#include "core/limits.hpp"
#include "core/sample_range.hpp"
#include "core/waker.hpp"

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>

namespace telegate {

/// A session of a shard: its place there, and its id, because places are reused.
struct ShardReader {
    std::uint32_t place = 0;
    std::uint64_t id = 0;

    auto operator<=>(const ShardReader&) const = default;
};

/// The readers of a topic in one shard. The list never changes; everything else belongs to the queue.
struct ShardReaders {
    std::span<const ShardReader> list;
    std::size_t uses = 0;           // number of reader sets, and of ranges in the queue
    std::uint64_t records_end = 0;  // records at or after this number do not refer to it
};

/// A segment of the log that a shard may read. Created and destroyed by the queue. The shard reads the constant members
/// and releases the lease.
struct SegmentLease {
    SegmentRef segment;  // used by the queue only
    std::byte* const bytes;
    const std::uint64_t start;
    const std::uint32_t capacity;
    SegmentLease* next = nullptr;  // in the list of returned leases
};

/// A message for one session, see Publisher::send_to().
struct ShardMessage {
    ShardReader reader;
    std::string topic;
    std::string payload;
    std::optional<SampleRange> samples;
};
/// Messages that readers have lost, by reader.
using ShardLosses = std::map<ShardReader, std::uint64_t>;
/// The data that a shard gets besides the log.
using LinkNote = std::variant<ShardMessage, ShardLosses>;

/// One entry for a shard, in order: a range of the log and its readers; or, without readers, a note or only the log's
/// end.
struct LinkRecord {
    SegmentLease* lease = nullptr;
    const ShardReaders* readers = nullptr;
    LinkNote* note = nullptr;  // deleted by the side that takes the record
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t limit = 0;  // of the segment; covers the samples of the range
    std::uint32_t messages = 0;
    std::uint64_t log_end = 0;  // end of the segment, or of the last one opened
};

/// The progress of a log's readers.
struct ReadProgress {
    static constexpr std::uint64_t nothing_waits = UINT64_MAX;

    std::uint64_t oldest;     // nothing pending lies before this position
    std::uint64_t runs_left;  // this many more ranges cause no loss
};

/// The limit that the blocking subscribers of a shard set, see SlowPolicy::block.
struct BlockLimit {
    std::uint64_t log_end_max = UINT64_MAX;  // the log may grow up to here, as far as the shard has applied it
    std::uint64_t bytes_max = UINT64_MAX;    // the smallest limit of a subscriber; UINT64_MAX: none is blocking
};

/// The link between the publisher's thread and a shard's: records in one direction, leases and progress in the other.
///
/// Threads: the publisher's and the shard's, each for its own functions.
/// Limits: link_records_max records that are not applied yet; one lease for each segment that is read.
/// Failure: the constructor throws std::system_error if no descriptor is available.
///
/// A published record makes visible what the publisher has written; a returned lease guarantees that the shard has
/// finished reading. A waiter sets its flag and then rechecks; a producer publishes and then checks the flag. These
/// four operations are sequentially consistent, so that one of the two sides sees the other.
class ShardLink {
  public:
    ShardLink() = default;
    ~ShardLink();
    ShardLink(const ShardLink&) = delete;
    ShardLink& operator=(const ShardLink&) = delete;

    // For the publisher.

    [[nodiscard]] std::uint64_t put_count() const noexcept { return put_; }
    /// Returns the number of records that the shard has applied. The progress that is read afterwards is at least as
    /// recent.
    [[nodiscard]] std::uint64_t applied() const noexcept { return applied_.load(); }
    [[nodiscard]] std::uint64_t oldest() const noexcept { return oldest_.load(); }
    [[nodiscard]] std::uint64_t records_max() const noexcept { return records_max_.load(); }
    [[nodiscard]] BlockLimit block_limit() const noexcept { return {block_end_max_.load(), block_bytes_max_.load()}; }
    [[nodiscard]] bool has_room() const noexcept { return put_ - applied() < limits::link_records_max; }
    /// Adds a record, which the shard does not see before publish(). Requires has_room().
    void put(const LinkRecord& record) noexcept { records_[put_++] = record; }
    void publish() noexcept {
        published_.store(put_);
        wake_shard();
    }
    /// Requests a wake-up when more records were applied.
    void await_progress() noexcept { awaits_progress_.store(true); }
    /// Requests a wake-up when nothing before `oldest` is pending and this many records cause no loss.
    void await_room(std::uint64_t oldest, std::uint64_t records) noexcept {
        const bool is_new = awaited_records_.exchange(records) != records;
        if (awaited_oldest_.exchange(oldest) != oldest || is_new) {
            wake_shard();  // it has to check
        }
    }
    /// Requests a wake-up when the blocking subscribers allow the log to grow up to `log_end`.
    void await_block_limit(std::uint64_t log_end) noexcept {
        awaited_log_end_.store(log_end);
        wake_shard();  // it has to check
    }
    /// Returns all released leases, as a linked list.
    [[nodiscard]] SegmentLease* take_released() noexcept {
        return released_.load(std::memory_order_relaxed) == nullptr
                   ? nullptr
                   : released_.exchange(nullptr, std::memory_order_acquire);
    }

    // For the shard.

    /// Returns the oldest record that was not removed, or null.
    [[nodiscard]] const LinkRecord* front() noexcept {
        return taken_ == published_.load(std::memory_order_acquire) ? nullptr : &records_[taken_];
    }
    void pop() noexcept { ++taken_; }
    [[nodiscard]] std::uint64_t taken() const noexcept { return taken_; }
    /// Requests a wake-up when there is a record. Returns false if there already is one.
    [[nodiscard]] bool await_record() noexcept {
        shard_waits_.store(true);
        const bool waits = published_.load() == taken_;
        if (!waits) {
            shard_waits_.store(false);
        }
        return waits;
    }
    [[nodiscard]] bool is_room_awaited() const noexcept { return awaited_oldest_.load() != nobody_waits; }
    [[nodiscard]] bool is_block_limit_awaited() const noexcept { return awaited_log_end_.load() != nobody_waits; }
    [[nodiscard]] bool is_all_reported() const noexcept { return taken_ == applied_.load(std::memory_order_relaxed); }
    /// Reports that everything taken is applied, and the progress of the sessions. Returns true if the publisher must
    /// be woken.
    [[nodiscard]] bool report(std::uint64_t oldest, std::uint64_t records_max, const BlockLimit& limit = {}) noexcept;
    void release(SegmentLease* lease) noexcept {
        lease->next = released_.load(std::memory_order_relaxed);
        while (!released_.compare_exchange_weak(lease->next, lease, std::memory_order_release,
                                                std::memory_order_relaxed)) {
        }
    }
    [[nodiscard]] Waker& waker() noexcept { return waker_; }

  private:
    static constexpr std::size_t cache_line_bytes = 64;
    static constexpr std::uint64_t nobody_waits = 0;

    void wake_shard() noexcept {
        if (shard_waits_.load() && shard_waits_.exchange(false)) {
            waker_.wake();
        }
    }

    // Written by the publisher.
    alignas(cache_line_bytes) std::atomic<std::uint64_t> published_{0};
    alignas(cache_line_bytes) std::uint64_t put_ = 0;
    // Written by the shard.
    alignas(cache_line_bytes) std::atomic<std::uint64_t> applied_{0};
    std::atomic<std::uint64_t> oldest_{ReadProgress::nothing_waits};
    std::atomic<std::uint64_t> records_max_{limits::backlog_runs_max};
    std::atomic<std::uint64_t> block_end_max_{UINT64_MAX};
    std::atomic<std::uint64_t> block_bytes_max_{UINT64_MAX};
    std::atomic<SegmentLease*> released_{nullptr};
    alignas(cache_line_bytes) std::uint64_t taken_ = 0;
    // Written when a side starts or ends a wait.
    alignas(cache_line_bytes) std::atomic<bool> shard_waits_{true};
    std::atomic<bool> awaits_progress_{false};
    std::atomic<std::uint64_t> awaited_oldest_{nobody_waits};
    std::atomic<std::uint64_t> awaited_records_{0};
    std::atomic<std::uint64_t> awaited_log_end_{nobody_waits};

    alignas(cache_line_bytes) Ring<LinkRecord, limits::link_records_max> records_;
    Waker waker_;  // wakes the shard
};

inline ShardLink::~ShardLink() {
    for (; taken_ != put_; ++taken_) {
        delete records_[taken_].note;
    }
}

inline bool ShardLink::report(std::uint64_t oldest, std::uint64_t records_max, const BlockLimit& limit) noexcept {
    oldest_.store(oldest);
    records_max_.store(records_max);
    block_end_max_.store(limit.log_end_max);
    block_bytes_max_.store(limit.bytes_max);
    const bool is_more = !is_all_reported();
    applied_.store(taken_);  // after those above, see applied()
    bool wake = is_more && awaits_progress_.load() && awaits_progress_.exchange(false);
    std::uint64_t awaited = awaited_oldest_.load();
    if (awaited != nobody_waits && oldest >= awaited && records_max >= awaited_records_.load()) {
        wake = awaited_oldest_.compare_exchange_strong(awaited, nobody_waits) || wake;
    }
    awaited = awaited_log_end_.load();
    if (awaited != nobody_waits && limit.log_end_max >= awaited) {
        wake = awaited_log_end_.compare_exchange_strong(awaited, nobody_waits) || wake;
    }
    return wake;
}

}  // namespace telegate
