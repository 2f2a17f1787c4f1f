#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace telegate {

/// Returns the text without the characters `blanks` at its beginning and end. Threads: any.
[[nodiscard]] constexpr std::string_view trimmed(std::string_view text, std::string_view blanks) noexcept {
    const std::size_t first = std::min(text.find_first_not_of(blanks), text.size());
    return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

/// Splits the text at commas and removes the blanks around each part. Threads: any.
[[nodiscard]] inline std::vector<std::string_view> comma_parts(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t comma = text.find(','); comma != std::string_view::npos; comma = text.find(',')) {
        parts.push_back(trimmed(text.substr(0, comma), " \t"));
        text.remove_prefix(comma + 1);
    }
    parts.push_back(trimmed(text, " \t"));
    return parts;
}

}  // namespace telegate
