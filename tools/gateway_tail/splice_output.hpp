#pragma once

#include "sample.hpp"

#include <cstdint>

namespace telegate::tail {

/// What comes out of the splice. Must not call the splice.
class SpliceOutput {
  public:
    SpliceOutput() = default;
    virtual ~SpliceOutput() = default;
    SpliceOutput(const SpliceOutput&) = delete;
    SpliceOutput& operator=(const SpliceOutput&) = delete;

    /// Each seq of a topic and epoch once at most, in order.
    virtual void give(const Sample& sample) = 0;
    /// These seqs will not be given, and stand here in the order of the topic: after what is before them.
    virtual void lose(const Gap& gap) = 0;
    /// What came after the last known sample of this epoch cannot be found out.
    virtual void end_unknown(std::int64_t epoch) = 0;
};

}  // namespace telegate::tail
