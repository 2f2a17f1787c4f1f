#include "core/utf8.hpp"

#include <algorithm>
#include <cstring>

namespace telegate {

std::size_t utf8_bytes(std::string_view bytes) noexcept {
    if (bytes.empty()) {
        return 0;
    }
    const unsigned first = byte_at(bytes, 0);
    const std::size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (first > 0xF4 || length == 0 || bytes.size() < length) {
        return 0;
    }
    for (std::size_t at = 1; at < length; ++at) {
        if (!is_continuation(bytes[at])) {
            return 0;
        }
    }
    const unsigned second = length > 1 ? byte_at(bytes, 1) : 0;
    const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    const bool outside = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
    return overlong || outside ? 0 : length;
}

bool is_control(std::string_view character) noexcept {
    const unsigned first = byte_at(character, 0);
    return first < 0x20 || first == 0x7F || (first == 0xC2 && byte_at(character, 1) < 0xA0);
}

std::size_t count_characters(std::string_view text) noexcept {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char byte) { return !is_continuation(byte); }));
}

char* put_utf8(char* out, std::string_view bytes) noexcept {
    while (!bytes.empty()) {
        const std::size_t length = utf8_bytes(bytes);
        const std::string_view character = length > 0 ? bytes.substr(0, length) : replacement_character;
        std::memcpy(out, character.data(), character.size());
        out += character.size();
        bytes.remove_prefix(length > 0 ? length : 1);
    }
    return out;
}

}  // namespace telegate
