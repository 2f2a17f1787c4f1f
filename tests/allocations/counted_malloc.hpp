#pragma once

#include <cstdint>

namespace telegate::test {

/// Calls of malloc and its kin so far, in all threads of this program. Threads: any.
[[nodiscard]] std::uint64_t allocations() noexcept;
/// Of these, how many were not freed yet.
[[nodiscard]] std::uint64_t allocations_alive() noexcept;

/// While it lives, malloc() has nothing for this thread.
class NoMemory {
  public:
    NoMemory() noexcept;
    ~NoMemory();
    NoMemory(const NoMemory&) = delete;
    NoMemory& operator=(const NoMemory&) = delete;
};

}  // namespace telegate::test
