#pragma once

#include <cstdint>

namespace telegate::test {

inline constexpr std::int64_t second_ns = 1'000'000'000;
inline constexpr std::int64_t millisecond_ns = 1'000'000;

}  // namespace telegate::test
