#pragma once

#include "core/text.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace telegate {

/// Splits the text at commas and removes the blanks around each part. Threads: any.
[[nodiscard]] inline std::vector<std::string_view> comma_parts(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t comma = text.find(','); comma != std::string_view::npos; comma = text.find(',')) {
        parts.push_back(trimmed(text.substr(0, comma)));
        text.remove_prefix(comma + 1);
    }
    parts.push_back(trimmed(text));
    return parts;
}

}  // namespace telegate
