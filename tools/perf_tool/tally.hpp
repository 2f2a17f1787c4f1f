#pragma once

#include <cstdint>

namespace telegate::perf {

/// What a consumer received of the seqs 1, 2, 3 ... that one producer sent. Threads: one at a time.
class Tally {
  public:
    void take(std::uint64_t seq) noexcept {
        ++count_;
        sum_ += seq;
        ordered_ = ordered_ && seq == count_;
    }

    /// Whether exactly the seqs 1 to `sent` came, each once and in order.
    [[nodiscard]] bool complete(std::uint64_t sent) const noexcept {
        return ordered_ && count_ == sent && sum_ == sent * (sent + 1) / 2;
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

  private:
    std::uint64_t count_ = 0;
    std::uint64_t sum_ = 0;
    bool ordered_ = true;
};

}  // namespace telegate::perf
