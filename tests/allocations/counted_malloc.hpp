#pragma once

#include <cstdint>

namespace telegate::test {

/// Returns the number of calls of malloc and related functions so far, in all threads of this program. Threads: any.
[[nodiscard]] std::uint64_t allocations() noexcept;
/// Returns how many of these allocations have not been freed.
[[nodiscard]] std::uint64_t allocations_alive() noexcept;

}  // namespace telegate::test
