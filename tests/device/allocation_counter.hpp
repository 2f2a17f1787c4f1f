#pragma once

#include <cstdint>

namespace telegate::test {

/// Returns how often this thread has called operator new.
[[nodiscard]] std::uint64_t allocations() noexcept;

}  // namespace telegate::test
