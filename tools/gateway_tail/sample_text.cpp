#include "sample_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>

namespace telegate::tail {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr std::string_view hex_digits = "0123456789abcdef";

bool is_continuation(char byte) noexcept {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

/// Returns the length of the first UTF-8 character of `text` in bytes, or 0 if it is invalid.
std::size_t character_bytes(std::string_view text) noexcept {
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t bytes = first < 0x80   ? 1
                              : first < 0xC2 ? 0
                              : first < 0xE0 ? 2
                              : first < 0xF0 ? 3
                              : first < 0xF5 ? 4
                                             : 0;
    if (bytes > text.size()) {
        return 0;
    }
    for (std::size_t at = 1; at < bytes; ++at) {
        if (!is_continuation(text[at])) {
            return 0;
        }
    }
    const auto second = bytes > 1 ? static_cast<unsigned char>(text[1]) : 0U;
    const bool is_wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                          (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
    return is_wrong ? 0 : bytes;
}

/// Includes U+0080 to U+009F.
bool is_control(std::string_view character) noexcept {
    const auto first = static_cast<unsigned char>(character[0]);
    return first < 0x20 || first == 0x7F || (first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0);
}

/// Calls `append` for each character, and with the replacement character for each invalid byte.
template <class Append>
void each_character(std::string_view text, const Append& append) {
    while (!text.empty()) {
        const std::size_t bytes = character_bytes(text);
        append(bytes == 0 ? replacement : text.substr(0, bytes));
        text.remove_prefix(bytes == 0 ? 1 : bytes);
    }
}

void append_hex(std::string& out, char byte) {
    const auto number = static_cast<unsigned char>(byte);
    out += hex_digits[number >> 4U];
    out += hex_digits[number & 15U];
}

template <class Number>
void append_number(std::string& out, Number number) {
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

constexpr std::array<std::string_view, reasons> reason_words = {
    "queue_overflow", "shutdown", "slow",      "expired",   "not_retained", "dropped",       "log_slow", "log_full",
    "crash",          "damaged",  "retention", "no_answer", "not_asked",    "unknown_epoch", "ended",    "other"};

}  // namespace

bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t bytes = character_bytes(text);
        if (bytes == 0) {
            return false;
        }
        text.remove_prefix(bytes);
    }
    return true;
}

void append_json_text(std::string& out, std::string_view text) {
    out += '"';
    each_character(text, [&out](std::string_view character) {
        if (character == "\"" || character == "\\") {
            out += '\\';
        } else if (static_cast<unsigned char>(character[0]) < 0x20) {
            out += "\\u00";
            append_hex(out, character[0]);
            return;
        }
        out += character;
    });
    out += '"';
}

void append_printable(std::string& out, std::string_view text) {
    each_character(text, [&out](std::string_view character) {
        if (!is_control(character)) {
            out += character;
            return;
        }
        for (const char byte : character) {
            out += "\\x";
            append_hex(out, byte);
        }
    });
}

void append_json_value(std::string& out, const Value& value) {
    switch (value.type) {
        case ValueType::none: out += "null"; break;
        case ValueType::real: std::isfinite(value.real) ? append_number(out, value.real) : void(out += "null"); break;
        case ValueType::integer: append_number(out, value.integer); break;
        case ValueType::boolean: out += value.boolean ? "true" : "false"; break;
        case ValueType::text: append_json_text(out, value.text); break;
    }
}

void append_plain_value(std::string& out, const Value& value) {
    if (value.type == ValueType::text) {
        out += value.text;
    } else if (value.type != ValueType::none) {
        append_json_value(out, value);
    }
}

std::string_view to_string(Reason reason) noexcept {
    return reason_words[static_cast<std::size_t>(reason)];
}

Reason parse_reason(std::string_view text) noexcept {
    const auto* const found = std::find(reason_words.begin(), reason_words.end() - 1, text);
    return static_cast<Reason>(found - reason_words.begin());
}

}  // namespace telegate::tail
