#include "readable_bytes.hpp"

#include <cstddef>

namespace telegate {
namespace {

unsigned byte_at(std::string_view bytes, std::size_t at) noexcept {
    return static_cast<unsigned char>(bytes[at]);
}

// Bytes of the character at the front when it is well-formed (RFC 3629: shortest form, no surrogates, up to U+10FFFF),
// else 0. `bytes` is not empty.
std::size_t character_bytes(std::string_view bytes) noexcept {
    const unsigned first = byte_at(bytes, 0);
    const std::size_t length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (first > 0xF4 || length == 0 || bytes.size() < length) {
        return 0;
    }
    for (std::size_t at = 1; at < length; ++at) {
        if ((byte_at(bytes, at) & 0xC0U) != 0x80) {
            return 0;
        }
    }
    const unsigned second = length > 1 ? byte_at(bytes, 1) : 0;
    const bool overlong = (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
    const bool outside = (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
    return overlong || outside ? 0 : length;
}

// C0, DEL and C1 (which are two bytes in UTF-8, the first 0xC2).
bool is_control(std::string_view character) noexcept {
    const unsigned first = byte_at(character, 0);
    return first < 0x20 || first == 0x7F || (first == 0xC2 && byte_at(character, 1) < 0xA0);
}

void append_escaped(std::string& text, std::string_view bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        text += "\\x";
        text += digits[byte_at(bytes, at) >> 4U];
        text += digits[byte_at(bytes, at) & 0xFU];
    }
}

}  // namespace

std::string to_readable(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const std::size_t length = character_bytes(bytes);
        const std::string_view character = bytes.substr(0, length == 0 ? 1 : length);
        if (length == 0 || is_control(character)) {
            append_escaped(text, character);
        } else if (character == "\\") {
            text += "\\\\";
        } else {
            text += character;
        }
        bytes.remove_prefix(character.size());
    }
    return text;
}

}  // namespace telegate
