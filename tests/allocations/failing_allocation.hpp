#pragma once

#include <cstdint>

namespace telegate::test {

/// While it exists, FailingAllocation neither fails nor counts the allocations of this thread.
class SparedThread {
  public:
    SparedThread() noexcept;
    ~SparedThread();
    SparedThread(const SparedThread&) = delete;
    SparedThread& operator=(const SparedThread&) = delete;
};

/// While it exists, fails `failures` allocations in a row, from the `number`-th on, of all threads that are not spared.
/// Only one may exist at a time.
class FailingAllocation {
  public:
    FailingAllocation(std::uint64_t number, std::uint64_t failures) noexcept;
    ~FailingAllocation();
    FailingAllocation(const FailingAllocation&) = delete;
    FailingAllocation& operator=(const FailingAllocation&) = delete;

    /// Returns whether there were enough allocations for one to fail.
    [[nodiscard]] bool has_failed() const noexcept;
};

/// Called by the allocator of the program once for each allocation. Returns whether it must fail.
[[nodiscard]] bool allocation_fails() noexcept;

}  // namespace telegate::test
