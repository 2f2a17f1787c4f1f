#include "http/http_text.hpp"

#include <boost/beast/core/string.hpp>

#include <charconv>
#include <cstddef>

namespace telegate {

std::string_view trimmed(std::string_view text) noexcept {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
        text.remove_prefix(1);
    }
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
        text.remove_suffix(1);
    }
    return text;
}

bool same_name(std::string_view one, std::string_view other) noexcept {
    return boost::beast::iequals({one.data(), one.size()}, {other.data(), other.size()});
}

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
