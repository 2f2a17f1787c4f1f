#include "lines/field_value.hpp"

#include "core/utf8.hpp"
#include "metrics/number_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace telegate {
namespace {

char to_lower(char c) noexcept {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool equals_lower(std::string_view word, std::string_view lower) noexcept {
    return std::equal(word.begin(), word.end(), lower.begin(), lower.end(),
                      [](char a, char b) { return to_lower(a) == b; });
}

}  // namespace

bool is_plain_text(std::string_view text) noexcept {
    for (std::size_t at = 0; at < text.size();) {
        const unsigned first = byte_at(text, at);
        const std::size_t bytes = first < 0x80 ? 1 : utf8_bytes(text.substr(at));
        if (first == 0 || bytes == 0) {
            return false;
        }
        at += bytes;
    }
    return true;
}

std::string_view without_blanks(std::string_view text) noexcept {
    const std::size_t first = text.find_first_not_of(" \t");
    if (first == std::string_view::npos) {
        return {};
    }
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<FieldValue> number_of(std::string_view word) noexcept {
    if (word.empty()) {
        return FieldValue{};
    }
    const auto number = metrics::parse_number(word);
    if (!number) {
        return std::nullopt;
    }
    using Kind = metrics::TextNumber::Kind;
    switch (number->kind) {
        case Kind::whole: return FieldValue{number->whole};
        case Kind::real: return FieldValue{number->real};
        case Kind::beyond: return FieldValue{RoundedNumber{number->real}};
        case Kind::none: break;
    }
    return FieldValue{};
}

FieldValue number_or_text(std::string_view word) noexcept {
    const std::optional<FieldValue> number = number_of(word);
    return number ? *number : FieldValue{word};
}

std::optional<bool> to_boolean(std::string_view word) noexcept {
    constexpr std::array<std::pair<std::string_view, bool>, 6> words{
        {{"true", true}, {"false", false}, {"on", true}, {"off", false}, {"yes", true}, {"no", false}}};
    for (const auto& [name, value] : words) {
        if (equals_lower(word, name)) {
            return value;
        }
    }
    return std::nullopt;
}

std::string_view excerpt(std::string_view text) noexcept {
    constexpr std::size_t bytes_max = 40;  // of the 160 bytes of an error text
    return text.substr(0, whole_characters_bytes(text, bytes_max));
}

}  // namespace telegate
