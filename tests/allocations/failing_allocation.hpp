#pragma once

#include <cstdint>

namespace telegate::test {

/// While it lives, FailingAllocation lets the allocations of this thread pass, and does not count them.
class SparedThread {
  public:
    SparedThread() noexcept;
    ~SparedThread();
    SparedThread(const SparedThread&) = delete;
    SparedThread& operator=(const SparedThread&) = delete;
};

/// While it lives, fails `failures` allocations in a row, of all threads that are not spared, from the `number`-th on.
/// Only one of these at a time.
class FailingAllocation {
  public:
    FailingAllocation(std::uint64_t number, std::uint64_t failures) noexcept;
    ~FailingAllocation();
    FailingAllocation(const FailingAllocation&) = delete;
    FailingAllocation& operator=(const FailingAllocation&) = delete;

    /// Whether there were as many allocations that one failed.
    [[nodiscard]] bool has_failed() const noexcept;
};

/// Asked by the allocator of the program, once for each allocation: whether it is to fail.
[[nodiscard]] bool allocation_fails() noexcept;

}  // namespace telegate::test
