#pragma once

#include "buffers/ring.hpp"
#include "buffers/segment_log.hpp"
#include "core/limits.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace telegate::transport {

/// Keeps the memory of the pieces that one end of a link has lent and that have not been returned, oldest first.
/// Threads: the writing end's thread. Limits: inproc_parts_max pieces. Failure: only std::bad_alloc with the first
/// piece.
class InprocInFlight {
  public:
    using Block = std::shared_ptr<std::byte[]>;

    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] bool is_full() const noexcept { return end_ - begin_ == limits::inproc_parts_max; }

    /// Adds one piece, in a segment or in its own block.
    void add(SegmentRef segment, Block block, std::size_t bytes);
    /// Makes the last piece longer by `bytes`.
    void extend(std::size_t bytes) noexcept;
    [[nodiscard]] const Segment* last_segment() const noexcept;
    /// Releases the pieces before the one that has `count` predecessors.
    void release_before(std::uint64_t count) noexcept;
    /// Returns how many pieces in total must have been returned for half of `bytes_max`, and half of the pieces, to
    /// be free.
    [[nodiscard]] std::uint64_t count_for_half(std::size_t bytes_max) const noexcept;
    /// Adds the memory of all pieces to `memory`, marks the segments as not reusable, and releases them.
    void leave_behind(std::vector<Block>& memory);

  private:
    struct Entry {
        SegmentRef segment;
        Block block;
        std::size_t bytes = 0;
    };
    using Entries = Ring<Entry, limits::inproc_parts_max>;

    [[nodiscard]] Entry& at(std::uint64_t position) const noexcept { return (*entries_)[position]; }

    std::unique_ptr<Entries> entries_;  // allocated with the first piece: many links are written to from one end only
    std::uint64_t begin_ = 0;           // counted from the first piece of the link, as in PieceRing
    std::uint64_t end_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace telegate::transport
