#include "core/topic.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace telegate {
namespace {

bool is_topic_character(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

char to_topic_character(char c) noexcept {
    const char lower = to_lower(c);
    return is_topic_character(lower) ? lower : '_';
}

/// In a URL, these would be removed together with the part before them.
bool is_relative(std::string_view text) noexcept {
    return text == "." || text == "..";
}

}  // namespace

bool is_topic_part(std::string_view text) noexcept {
    return !text.empty() && text.size() <= topic_part_bytes_max && !is_relative(text) &&
           std::all_of(text.begin(), text.end(), is_topic_character);
}

std::string to_topic_part(std::string_view text) {
    std::string part(text.substr(0, topic_part_bytes_max));
    std::transform(part.begin(), part.end(), part.begin(), to_topic_character);
    if (is_relative(part)) {
        std::replace(part.begin(), part.end(), '.', '_');
    }
    return part.empty() ? "_" : part;
}

}  // namespace telegate
