#include "core/topic.hpp"

#include <algorithm>

namespace telegate {
namespace {

bool is_topic_character(char c) noexcept {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
}

char to_topic_character(char c) noexcept {
    const char lower = (c >= 'A' && c <= 'Z') ? static_cast<char>(c - 'A' + 'a') : c;
    return is_topic_character(lower) ? lower : '_';
}

}  // namespace

bool is_topic_part(std::string_view text) noexcept {
    return !text.empty() && text.size() <= topic_part_bytes_max &&
           std::all_of(text.begin(), text.end(), is_topic_character);
}

std::string to_topic_part(std::string_view text) {
    std::string part(text.substr(0, topic_part_bytes_max));
    std::transform(part.begin(), part.end(), part.begin(), to_topic_character);
    return part.empty() ? "_" : part;
}

}  // namespace telegate
