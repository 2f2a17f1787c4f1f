#pragma once

#include <cstdint>
#include <optional>

namespace telegate::perf {

/// Counts the instructions of this thread, the kernel's left out, where the system lets a program count them.
/// Threads: one. Limits: one descriptor. Failure: none; without a counter there are no counts.
class InstructionCounter {
  public:
    InstructionCounter() noexcept;
    ~InstructionCounter();
    InstructionCounter(const InstructionCounter&) = delete;
    InstructionCounter& operator=(const InstructionCounter&) = delete;

    void start() noexcept;
    /// Since start().
    [[nodiscard]] std::optional<std::uint64_t> stop() noexcept;

  private:
    int descriptor_;
};

}  // namespace telegate::perf
