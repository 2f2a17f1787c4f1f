#include "base/readable_bytes.hpp"

#include "core/utf8.hpp"

#include <cstddef>

namespace telegate {
namespace {

void append_hexadecimal(std::string& text, std::string_view bytes) {
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
        const std::size_t length = utf8_bytes(bytes);
        const std::string_view character = bytes.substr(0, length == 0 ? 1 : length);
        if (length == 0 || is_control(character)) {
            append_hexadecimal(text, character);
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
