#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// The messages that tests publish.
namespace telegate::test {

inline constexpr std::size_t payload_bytes = 1000;

/// The number, padded with dots.
[[nodiscard]] inline std::string payload_of(int number, std::size_t bytes = payload_bytes) {
    std::string payload = std::to_string(number);
    payload.resize(bytes, '.');
    return payload;
}

[[nodiscard]] inline bool is_strictly_rising(const std::vector<int>& numbers) {
    return std::adjacent_find(numbers.begin(), numbers.end(), std::greater_equal<>()) == numbers.end();
}

/// Topics of which some are prefixes of others.
inline constexpr std::array<std::string_view, 6> alike_topics = {
    "a", "ab", "abc", "b", "", "a topic whose name is so long that it is copied in more than one or two steps"};

/// More than the kernel accepts for a subscriber that does not read.
inline const std::string sixteen_megabytes(16 * 1024 * 1024, 'x');

}  // namespace telegate::test
