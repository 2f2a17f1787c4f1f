#include "base/readable_bytes.hpp"

#include "core/text.hpp"
#include "core/utf8.hpp"

#include <cstddef>

namespace telegate {
std::string to_readable(std::string_view bytes) {
    std::string text;
    text.reserve(bytes.size());
    while (!bytes.empty()) {
        const std::size_t length = utf8_bytes(bytes);
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
