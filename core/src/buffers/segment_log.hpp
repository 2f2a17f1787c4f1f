#pragma once

#include "core/assert.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace telegate {

class SegmentPool;

/// Behind the capacity of every segment; a copy made in steps of so many bytes may run over there.
inline constexpr std::size_t segment_slack_bytes = 32;

/// A stretch of a log: finished wire bytes that any number of readers send from. Held by SegmentRef.
struct Segment {
    std::uint64_t start = 0;     // position of its first byte in the log
    std::uint32_t capacity = 0;  // bytes
    std::uint32_t used = 0;
    std::uint32_t refs = 0;   // not atomic: one thread owns the log and all its readers
    std::uint32_t holds = 0;  // of these, how many are SegmentHold's
    SegmentPool* pool = nullptr;
    std::shared_ptr<std::byte[]> bytes;  // shared only where another thread may still read after the pool has gone
    bool left_behind = false;            // another thread may still use it: never to be written again
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

/// Counts a segment, once however many hold it, in its pool's held_bytes(). Something else keeps it alive.
/// Threads: the log's. Limits: one pointer. Failure: none.
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

/// Where one message lies.
struct Slice {
    Segment* segment;
    std::uint32_t begin;
    std::uint32_t end;
};

/// Segments that nobody refers to any more, kept for the logs of one socket. Outlives them and all their readers.
///
/// Threads: one.
/// Limits:  keeps spare_max segments of the usual size, round_min more with readers in the process; spare_max medium
///          ones, small_spare_max small ones.
/// Failure: those that take a segment may throw std::bad_alloc, and std::length_error from 4 GiB.
class SegmentPool {
  public:
    /// `segment_bytes`: the usual size.
    explicit SegmentPool(std::size_t segment_bytes);
    ~SegmentPool();
    SegmentPool(const SegmentPool&) = delete;
    SegmentPool& operator=(const SegmentPool&) = delete;

    /// One more, or one less, who reads the segments in memory, on a thread of his own as a rule.
    void add_reader_in_process() noexcept { ++readers_in_process_; }
    void remove_reader_in_process() noexcept;
    /// A segment of the usual size, or of `bytes_min` when that is more: the one used last, which the cache still
    /// holds. For short messages with readers in the process, the one that has rested longest of many: see
    /// limits::short_bytes_in_process.
    [[nodiscard]] SegmentRef take(std::size_t bytes_min);
    /// A segment of a few KiB when that is enough for `bytes_min`; otherwise as take().
    [[nodiscard]] SegmentRef take_small(std::size_t bytes_min);
    /// A segment of some ten KiB when that is enough for `bytes_min`; otherwise as take().
    [[nodiscard]] SegmentRef take_medium(std::size_t bytes_min);
    /// A segment of another thread's log, to be read: the bytes go with the last reference to it.
    [[nodiscard]] SegmentRef borrow(std::shared_ptr<std::byte[]> bytes, std::uint64_t start, std::uint32_t capacity);
    [[nodiscard]] std::size_t segment_bytes() const noexcept { return segment_bytes_; }
    /// Capacity of all segments alive, the spare ones included.
    [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_bytes_; }
    /// Of these, the bytes of segments that a SegmentHold is set to.
    [[nodiscard]] std::size_t held_bytes() const noexcept { return held_bytes_; }

  private:
    friend class SegmentRef;
    friend class SegmentHold;
    friend class SegmentLog;
    using Spare = std::vector<std::unique_ptr<Segment>>;
    static constexpr std::size_t spare_max = 16;
    static constexpr std::size_t round_min = 8;  // of the usual size 2 MiB: more than most cores' own caches hold
    static constexpr std::size_t small_bytes = 4 * 1024;
    static constexpr std::size_t small_spare_max = 64;
    static constexpr std::size_t medium_bytes = 64 * 1024;

    [[nodiscard]] SegmentRef take_from(Spare& spare, std::size_t capacity);
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

/// Messages in order, each once, as wire bytes, in segments that are reused when their last reader is done.
///
/// Threads: one, the io thread.
/// Limits:  holds only what readers still refer to, plus the segment being filled. Readers keep that bounded by giving
///          up what lies more than their limit behind end().
/// Failure: prepare() throws as SegmentPool::take() does; the log goes on with a new segment.
class SegmentLog {
  public:
    /// What a log that has no segment begins with. Small: so that a thousand logs with one message each stay small; a
    /// medium one follows, then usual ones.
    enum class First : std::uint8_t { usual, small };

    explicit SegmentLog(SegmentPool& pool, First first = First::usual) noexcept : pool_(pool), first_(first) {}

    /// Contiguous room of at least `bytes_max` bytes at the end of the log. Opens a new segment when the present one
    /// is too full; a message larger than a segment gets one of its own size.
    [[nodiscard]] std::byte* prepare(std::size_t bytes_max) {
        if (current_.get() == nullptr || current_->capacity - current_->used < bytes_max) {
            open_segment(bytes_max);
        }
        return current_->bytes.get() + current_->used;
    }
    /// Appends the first `bytes` of the room.
    [[nodiscard]] Slice commit(std::size_t bytes) noexcept {
        Segment* const segment = current_.get();
        TELEGATE_ASSERT(segment != nullptr && bytes <= segment->capacity - segment->used);
        const std::uint32_t begin = segment->used;
        segment->used += static_cast<std::uint32_t>(bytes);
        return {segment, begin, segment->used};
    }
    /// What is left of the segment being filled; there is one.
    [[nodiscard]] std::span<std::byte> room() const noexcept {
        return {current_->bytes.get() + current_->used, current_->capacity - current_->used};
    }
    /// Lets go of the segment being filled: for a log that is idle.
    void release() noexcept { current_.reset(); }

    /// Where the next message begins, unless a new segment is opened for it.
    [[nodiscard]] std::uint64_t position() const noexcept {
        return current_.get() == nullptr ? end_ : current_->start + current_->used;
    }
    /// What end() will be after prepare(bytes).
    [[nodiscard]] std::uint64_t end_with(std::size_t bytes) const noexcept {
        if (current_.get() != nullptr && current_->capacity - current_->used >= bytes) {
            return end_;
        }
        return end_ + std::max(pool_.segment_bytes(), bytes);
    }
    /// Position behind the last segment opened. It counts whole segments, so that a distance is a bound on memory.
    [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
    /// Segments opened so far; a change tells readers to look at their limit.
    [[nodiscard]] std::uint64_t segments_opened() const noexcept { return segments_opened_; }

  private:
    void open_segment(std::size_t bytes_min);

    SegmentPool& pool_;
    const First first_;
    SegmentRef current_;
    std::uint64_t end_ = 0;
    std::uint64_t segments_opened_ = 0;
};

}  // namespace telegate
