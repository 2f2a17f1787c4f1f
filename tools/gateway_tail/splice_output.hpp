#pragma once

#include "sample.hpp"

#include <cstdint>

namespace telegate::tail {

/// Receives the output of the splice. Implementations must not call the splice.
class SpliceOutput {
  public:
    SpliceOutput() = default;
    virtual ~SpliceOutput() = default;
    SpliceOutput(const SpliceOutput&) = delete;
    SpliceOutput& operator=(const SpliceOutput&) = delete;

    /// Receives a sample. Each seq of a topic and epoch is output at most once, in order.
    virtual void give(const Sample& sample) = 0;
    /// Receives a range of seqs that will not be output, in the order of the topic: after the samples before it.
    virtual void lose(const Gap& gap) = 0;
    /// Reports that samples after the last known one of this epoch cannot be determined.
    virtual void end_unknown(std::int64_t epoch) = 0;
};

}  // namespace telegate::tail
