#pragma once

#include "core/assert.hpp"
#include "core/sample_range.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace telegate {

class SegmentPool;

/// Extra bytes after the limit of every segment. A copy in steps of this size may write past the limit by up to one
/// step.
inline constexpr std::size_t segment_slack_bytes = 32;

/// A range of a log: complete wire bytes that any number of readers send from. The samples of its messages are listed
/// at its end, backwards, after the slack. Held by SegmentRef.
struct Segment {
    std::uint64_t start = 0;     // position of the first byte in the log
    std::uint32_t capacity = 0;  // bytes for messages and their samples, a multiple of alignof(LoggedSamples)
    std::uint32_t limit = 0;     // bytes for messages: the capacity less the listed samples
    std::uint32_t used = 0;
    std::uint32_t refs = 0;   // not atomic: one thread owns the log and all its readers
    std::uint32_t holds = 0;  // SegmentHolds set to this segment
    SegmentPool* pool = nullptr;
    std::shared_ptr<std::byte[]> bytes;  // shared only if another thread may still read after the pool is destroyed
    bool left_behind = false;            // another thread may still use it: must never be written again
    bool goes_round = false;             // filled with short messages that another thread reads
};

/// Keeps a segment alive.
/// Threads: the log's. Limits: one pointer. Failure: none.
class SegmentRef {
  public:
    SegmentRef() = default;
    explicit SegmentRef(Segment* segment) noexcept : segment_(segment) { ++segment_->refs; }
    SegmentRef(SegmentRef&& other) noexcept : segment_(other.segment_) { other.segment_ = nullptr; }
    SegmentRef& operator=(SegmentRef&& other) noexcept;
    ~SegmentRef() { reset(); }

    void reset() noexcept {
        Segment* const segment = std::exchange(segment_, nullptr);
        if (segment != nullptr && --segment->refs == 0) {
            recycle(segment);
        }
    }
    [[nodiscard]] Segment* get() const noexcept { return segment_; }
    Segment* operator->() const noexcept { return segment_; }

  private:
    static void recycle(Segment* segment) noexcept;

    Segment* segment_ = nullptr;
};

/// Counts a segment in its pool's held_bytes(), once regardless of the number of holds. Does not keep the segment
/// alive. Threads: the log's. Limits: one pointer. Failure: none.
class SegmentHold {
  public:
    SegmentHold() = default;
    ~SegmentHold() { reset(); }
    SegmentHold(const SegmentHold&) = delete;
    SegmentHold& operator=(const SegmentHold&) = delete;

    void set(Segment* segment) noexcept;
    void reset() noexcept;
    [[nodiscard]] bool is_set() const noexcept { return segment_ != nullptr; }

  private:
    Segment* segment_ = nullptr;
};

/// The location of one message in the log.
struct Slice {
    Segment* segment;
    std::uint32_t begin;
    std::uint32_t end;
};

/// Returns the capacity of a segment for `bytes` bytes.
[[nodiscard]] constexpr std::size_t segment_capacity(std::size_t bytes) noexcept {
    constexpr std::size_t step = alignof(LoggedSamples);
    return (bytes + step - 1) / step * step;
}
/// Lists the samples of the message at `offset` in a segment with the limit `limit`, which is below the previous one by
/// sizeof(LoggedSamples).
inline void list_samples(std::byte* bytes, std::size_t limit, std::size_t offset, const SampleRange& samples) noexcept {
    ::new (bytes + limit + segment_slack_bytes)
        LoggedSamples{samples.first_seq, samples.last_seq, samples.channel, static_cast<std::uint32_t>(offset)};
}
/// Returns the samples of these messages, newest first.
[[nodiscard]] std::span<const LoggedSamples> samples_of(const Slice& messages) noexcept;

/// Unreferenced segments, kept for reuse by the logs of one socket. Outlives the logs and all their readers.
///
/// Threads: one.
/// Limits: keeps spare_max segments of the usual size, plus round_min while there are readers in the process; spare_max
/// medium and small_spare_max small ones.
/// Failure: functions that return a segment may throw std::bad_alloc, and std::length_error for 4 GiB or more (2 GiB
/// with 32-bit addresses).
class SegmentPool {
  public:
    /// `segment_bytes`: the usual segment size.
    explicit SegmentPool(std::size_t segment_bytes);
    ~SegmentPool();
    SegmentPool(const SegmentPool&) = delete;
    SegmentPool& operator=(const SegmentPool&) = delete;

    /// Counts the readers that read segments in memory, usually on another thread.
    void add_reader_in_process() noexcept { ++readers_in_process_; }
    void remove_reader_in_process() noexcept;
    /// Returns a segment of the usual size, or larger for a message of `message_bytes` and the list of its samples.
    /// Prefers the most recently used segment, which is still in the cache. For short messages with readers in the
    /// process, uses the least recently used of many: see limits::short_bytes_in_process.
    [[nodiscard]] SegmentRef acquire(std::size_t message_bytes, std::size_t samples_bytes = 0);
    /// Returns a segment of 4 KiB if that is enough; otherwise as acquire().
    [[nodiscard]] SegmentRef acquire_small(std::size_t message_bytes, std::size_t samples_bytes = 0);
    /// Returns a segment of 64 KiB if that is enough; otherwise as acquire().
    [[nodiscard]] SegmentRef acquire_medium(std::size_t message_bytes, std::size_t samples_bytes = 0);
    /// Returns a segment for reading another thread's log. The memory is released with the last reference to the
    /// segment.
    [[nodiscard]] SegmentRef borrow(std::shared_ptr<std::byte[]> bytes, std::uint64_t start, std::uint32_t capacity);
    [[nodiscard]] std::size_t segment_bytes() const noexcept { return segment_bytes_; }
    /// Returns the capacity of all existing segments, including spare ones.
    [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_bytes_; }
    /// Returns the part of memory_bytes() that SegmentHolds are set to.
    [[nodiscard]] std::size_t held_bytes() const noexcept { return held_bytes_; }

  private:
    friend class SegmentRef;
    friend class SegmentHold;
    friend class SegmentLog;
    using Spare = std::vector<std::unique_ptr<Segment>>;
    static constexpr std::size_t spare_max = 16;
    // About 2 MiB of the usual size: more than the private caches of most cores.
    static constexpr std::size_t round_min = 8;
    static constexpr std::size_t small_bytes = 4 * 1024;
    static constexpr std::size_t small_spare_max = 64;
    static constexpr std::size_t medium_bytes = 64 * 1024;

    [[nodiscard]] SegmentRef acquire_from(Spare& spare, std::size_t capacity);
    [[nodiscard]] SegmentRef make(std::size_t capacity);
    [[nodiscard]] std::size_t usual_spare_max() const noexcept {
        return readers_in_process_ == 0 ? spare_max : spare_max + round_min;
    }
    void recycle(Segment* segment) noexcept;

    const std::size_t segment_bytes_;
    Spare spare_;
    Spare small_spare_;
    Spare medium_spare_;
    std::size_t readers_in_process_ = 0;
    std::size_t memory_bytes_ = 0;
    std::size_t held_bytes_ = 0;
};

/// Messages in order, each stored once as wire bytes, in segments that are reused when their last reader has finished.
///
/// Threads: one, the I/O thread.
/// Limits: holds only what readers still refer to, plus the segment being filled. Readers bound this by dropping data
/// that is further behind end() than their limit.
/// Failure: prepare() throws as SegmentPool::acquire() does; the log then continues with a new segment.
class SegmentLog {
  public:
    /// The first segment of a log that has none. `small` keeps a thousand logs with one message each small: a medium
    /// segment follows, then usual ones.
    enum class First : std::uint8_t { usual, small };

    explicit SegmentLog(SegmentPool& pool, First first = First::usual) noexcept : pool_(pool), first_(first) {}

    /// Returns at least `bytes_max` contiguous bytes at the end of the log. Opens a new segment if the current one is
    /// too full; a message larger than a segment gets its own segment. `samples_bytes`: reserved for commit() with
    /// samples.
    [[nodiscard]] std::byte* prepare(std::size_t bytes_max, std::size_t samples_bytes = 0) {
        if (current_.get() == nullptr || current_->limit - current_->used < bytes_max + samples_bytes) {
            open_segment(bytes_max, samples_bytes);
        }
        return current_->bytes.get() + current_->used;
    }
    /// Appends the first `bytes` of the prepared bytes.
    [[nodiscard]] Slice commit(std::size_t bytes) noexcept {
        Segment* const segment = current_.get();
        TELEGATE_ASSERT(segment != nullptr && bytes <= segment->limit - segment->used);
        const std::uint32_t begin = segment->used;
        segment->used += static_cast<std::uint32_t>(bytes);
        return {segment, begin, segment->used};
    }
    /// Like commit(), for a message with these samples, if any. prepare() must have been called with
    /// sizeof(LoggedSamples) for them.
    [[nodiscard]] Slice commit(std::size_t bytes, const std::optional<SampleRange>& samples) noexcept {
        if (samples) {
            current_->limit -= static_cast<std::uint32_t>(sizeof(LoggedSamples));
            list_samples(current_->bytes.get(), current_->limit, current_->used, *samples);
        }
        return commit(bytes);
    }
    /// Returns the segment being filled; null if there is none.
    [[nodiscard]] Segment* segment() const noexcept { return current_.get(); }
    /// Releases the segment being filled. For an idle log.
    void release() noexcept { current_.reset(); }

    /// Returns where the next message begins, unless it needs a new segment.
    [[nodiscard]] std::uint64_t position() const noexcept {
        return current_.get() == nullptr ? end_ : current_->start + current_->used;
    }
    /// Returns what end() will be after prepare(bytes).
    [[nodiscard]] std::uint64_t end_with(std::size_t bytes) const noexcept {
        if (current_.get() != nullptr && current_->limit - current_->used >= bytes) {
            return end_;
        }
        return end_ + std::max(pool_.segment_bytes(), segment_capacity(bytes));
    }
    /// Returns the end position of the last segment opened. It counts whole segments, so that a distance is a bound on
    /// memory.
    [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
    /// Returns the number of segments opened so far. When it changes, readers check their limits.
    [[nodiscard]] std::uint64_t segments_opened() const noexcept { return segments_opened_; }

  private:
    void open_segment(std::size_t message_bytes, std::size_t samples_bytes);

    SegmentPool& pool_;
    const First first_;
    SegmentRef current_;
    std::uint64_t end_ = 0;
    std::uint64_t segments_opened_ = 0;
};

}  // namespace telegate
