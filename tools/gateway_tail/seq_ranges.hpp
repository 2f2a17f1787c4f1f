#pragma once

#include "reason.hpp"

#include <cstddef>
#include <cstdint>
#include <map>

namespace telegate::tail {

/// Ranges of seqs, each with a reason; they do not overlap.
///
/// Threads: one. Limits: the owner's. Failure: std::bad_alloc.
class SeqRanges {
  public:
    struct Range {
        std::uint64_t last;
        Reason reason;
    };

    /// What is covered already keeps its reason.
    void add(std::uint64_t first, std::uint64_t last, Reason reason);
    /// The range that holds `seq`, or null.
    [[nodiscard]] const Range* at(std::uint64_t seq) const;
    /// The end of what is covered from `seq` on without a break; `seq` - 1 when it is not covered.
    [[nodiscard]] std::uint64_t covered_from(std::uint64_t seq) const;
    /// The first seq from `seq` on that is covered; seq_max and more when there is none.
    [[nodiscard]] std::uint64_t next_covered(std::uint64_t seq) const;
    void forget_below(std::uint64_t seq);
    void clear() { ranges_.clear(); }

    [[nodiscard]] bool empty() const noexcept { return ranges_.empty(); }
    [[nodiscard]] std::size_t size() const noexcept { return ranges_.size(); }
    /// The least of all; not when empty().
    [[nodiscard]] std::uint64_t first() const { return ranges_.begin()->first; }

  private:
    std::map<std::uint64_t, Range> ranges_;  // by first seq
};

}  // namespace telegate::tail
