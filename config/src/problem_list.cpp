#include "problem_list.hpp"

#include <algorithm>
#include <utility>

namespace telegate {
namespace {

constexpr std::size_t printable_bytes_max = 80;

bool is_inside_utf8_sequence(char c) noexcept {
    return (static_cast<unsigned char>(c) & 0xc0U) == 0x80;
}

/// Truncates to printable_bytes_max bytes, at a character boundary.
std::string_view cut(std::string_view text) noexcept {
    std::size_t size = std::min(text.size(), printable_bytes_max);
    while (size > 0 && size < text.size() && is_inside_utf8_sequence(text[size])) {
        --size;
    }
    return text.substr(0, size);
}

/// Returns the length of the UTF-8 character at the start of `text` (RFC 3629); 0 if there is none. `config` does not
/// use `core`.
std::size_t utf8_bytes(std::string_view text) noexcept {
    const auto byte = [text](std::size_t at) {
        return static_cast<unsigned char>(text[at]);
    };
    const unsigned first = byte(0);
    const std::size_t bytes = first < 0x80                    ? 1
                              : first >= 0xc2 && first < 0xe0 ? 2
                              : first >= 0xe0 && first < 0xf0 ? 3
                              : first >= 0xf0 && first < 0xf5 ? 4
                                                              : 0;
    for (std::size_t at = 1; at < bytes; ++at) {
        if (at >= text.size() || !is_inside_utf8_sequence(text[at])) {
            return 0;
        }
    }
    // Longer forms of shorter characters, surrogates, and characters beyond U+10FFFF.
    const bool is_invalid = bytes > 2 && ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0) ||
                                          (first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90));
    return is_invalid ? 0 : bytes;
}

}  // namespace

std::string text_fault(std::string_view line) {
    constexpr std::string_view digits = "0123456789abcdef";
    while (!line.empty()) {
        const std::size_t bytes = utf8_bytes(line);
        if (bytes == 0) {
            const auto byte = static_cast<unsigned char>(line.front());
            return std::string("byte 0x") + digits[byte >> 4U] + digits[byte & 0x0fU] +
                   " is not UTF-8; must be UTF-8 text";
        }
        line.remove_prefix(bytes);
    }
    return "";
}

std::string printable(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    const std::string_view shown = cut(text);
    std::string out;
    for (const char c : shown) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f) {
            out += {'\\', 'x', digits[byte >> 4U], digits[byte & 0x0fU]};
        } else {
            out += c;
        }
    }
    return shown.size() < text.size() ? out + "..." : out;
}

std::string quoted(std::string_view text) {
    const char quote = text.find('"') == std::string_view::npos ? '"' : '\'';
    return quote + printable(text) + quote;
}

void ProblemList::add(SettingsPlace place, std::string_view key, std::string what) {
    add({.place = std::move(place), .key = std::string(key), .what = std::move(what)});
}

void ProblemList::add(SettingsProblem problem) {
    const bool is_known = std::any_of(problems_.begin(), problems_.end(), [&](const SettingsProblem& each) {
        return each.place == problem.place && each.key == problem.key && each.what == problem.what;
    });
    if (is_known) {
        return;  // a template line is read once per device, but it is one mistake
    }
    if (problems_.size() == problems_max) {
        ++left_out_;
        return;
    }
    problems_.push_back(std::move(problem));
}

void ProblemList::throw_if_any(const Settings& understood, std::error_code unreadable) {
    if (problems_.empty()) {
        return;
    }
    sort_problems(problems_, file_);
    if (left_out_ > 0) {
        problems_.push_back(
            {.place = {file_}, .key = "", .what = std::to_string(left_out_) + " more problems not listed"});
    }
    throw SettingsError(std::move(problems_), understood, unreadable);
}

}  // namespace telegate
