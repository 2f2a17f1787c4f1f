#pragma once

#include "reason.hpp"

#include <cstddef>
#include <cstdint>
#include <map>

namespace telegate::tail {

/// Non-overlapping ranges of seqs, each with a reason.
///
/// Threads: one. Limits: the owner's. Failure: std::bad_alloc.
class SeqRanges {
  public:
    struct Range {
        std::uint64_t last;
        Reason reason;
    };

    /// Adds a range. Seqs that are already covered keep their reason.
    void add(std::uint64_t first, std::uint64_t last, Reason reason);
    /// Returns the range that contains `seq`, or null.
    [[nodiscard]] const Range* at(std::uint64_t seq) const;
    /// Returns the last seq that is covered contiguously from `seq`, or `seq` - 1 if `seq` is not covered.
    [[nodiscard]] std::uint64_t covered_from(std::uint64_t seq) const;
    /// Returns the first covered seq, starting at `seq`; above seq_max if there is none.
    [[nodiscard]] std::uint64_t next_covered(std::uint64_t seq) const;
    void forget_below(std::uint64_t seq);
    void clear() { ranges_.clear(); }

    [[nodiscard]] bool empty() const noexcept { return ranges_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return ranges_.size(); }
    /// Returns the smallest covered seq. The set must not be empty.
    [[nodiscard]] std::uint64_t first() const { return ranges_.begin()->first; }

  private:
    std::map<std::uint64_t, Range> ranges_;  // by first seq
};

}  // namespace telegate::tail
