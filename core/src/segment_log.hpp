#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace telegate {

/// A stretch of the log: finished wire bytes that any number of readers send from. Held by SegmentRef.
struct Segment {
    std::uint64_t start;     // position of its first byte in the log
    std::uint32_t capacity;  // bytes
    std::uint32_t used = 0;
    std::uint32_t refs = 0;  // not atomic: one thread owns the log and all its readers
    class SegmentLog* log;
    std::unique_ptr<std::byte[]> bytes;
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

    void reset() noexcept;
    [[nodiscard]] Segment* get() const noexcept { return segment_; }
    Segment* operator->() const noexcept { return segment_; }

  private:
    Segment* segment_ = nullptr;
};

/// Where one message lies.
struct Slice {
    Segment* segment;
    std::uint32_t begin;
    std::uint32_t end;
};

/// Every message once, as wire bytes, in segments that are reused when their last reader is done.
///
/// Threads: one, the io thread.
/// Limits:  holds only what readers still refer to, plus the segment being filled and spare_segments_max spare ones.
///          Readers keep that bounded by giving up what lies more than their limit behind end().
/// Failure: prepare() may throw std::bad_alloc.
class SegmentLog {
  public:
    explicit SegmentLog(std::size_t segment_bytes);
    ~SegmentLog();
    SegmentLog(const SegmentLog&) = delete;
    SegmentLog& operator=(const SegmentLog&) = delete;

    /// Contiguous room of at least `bytes_max` bytes at the end of the log. Opens a new segment when the present one
    /// is too full; a message larger than a segment gets one of its own size.
    [[nodiscard]] std::byte* prepare(std::size_t bytes_max);
    /// Appends the first `bytes` of the room.
    [[nodiscard]] Slice commit(std::size_t bytes) noexcept;

    /// Position behind the last segment opened. It counts whole segments, so that a distance is a bound on memory.
    [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
    /// Segments opened so far; a change tells readers to look at their limit.
    [[nodiscard]] std::uint64_t segments_opened() const noexcept { return segments_opened_; }
    /// Bytes of all segments alive, the spare ones included.
    [[nodiscard]] std::size_t memory_bytes() const noexcept { return memory_bytes_; }

  private:
    friend class SegmentRef;
    static constexpr std::size_t spare_segments_max = 4;

    void open_segment(std::size_t bytes_min);
    void recycle(Segment* segment) noexcept;

    const std::size_t segment_bytes_;
    SegmentRef current_;
    std::vector<std::unique_ptr<Segment>> spare_;
    std::uint64_t end_ = 0;
    std::uint64_t segments_opened_ = 0;
    std::size_t memory_bytes_ = 0;
};

}  // namespace telegate
