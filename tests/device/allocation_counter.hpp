#pragma once

#include <cstdint>

namespace telegate::test {

/// How often this thread has called operator new.
[[nodiscard]] std::uint64_t allocations() noexcept;

}  // namespace telegate::test
