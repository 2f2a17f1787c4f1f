#include "http/http_text.hpp"

#include <charconv>
#include <cstddef>

namespace telegate {

std::string percent_decoded(std::string_view text, bool is_query) {
    std::string result;
    for (std::size_t at = 0; at < text.size(); ++at) {
        unsigned code = 0;
        const char* const digits = text.data() + at + 1;
        if (text[at] == '%' && at + 2 < text.size() &&
            std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2) {
            result += static_cast<char>(code);
            at += 2;
        } else {
            result += text[at] == '+' && is_query ? ' ' : text[at];
        }
    }
    return result;
}

}  // namespace telegate
