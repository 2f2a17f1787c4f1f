#include "sample_text.hpp"

#include "core/utf8.hpp"

#include <algorithm>
#include <cmath>

namespace telegate::tail {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

/// Calls `append` for each character, and with the replacement character for each invalid byte.
template <class Append>
void each_character(std::string_view text, const Append& append) {
    while (!text.empty()) {
        const std::size_t bytes = utf8_bytes(text);
        append(bytes == 0 ? replacement_character : text.substr(0, bytes));
        text.remove_prefix(bytes == 0 ? 1 : bytes);
    }
}

void append_hex(std::string& out, char byte) {
    const auto number = static_cast<unsigned char>(byte);
    out += hex_digits[number >> 4U];
    out += hex_digits[number & 15U];
}

constexpr std::array<std::string_view, reasons> reason_words = {
    "queue_overflow", "shutdown", "slow",      "expired",   "not_retained", "dropped",       "log_slow", "log_full",
    "crash",          "damaged",  "retention", "no_answer", "not_asked",    "unknown_epoch", "ended",    "other"};

}  // namespace

bool is_utf8(std::string_view text) noexcept {
    while (!text.empty()) {
        const std::size_t bytes = utf8_bytes(text);
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
        } else if (byte_at(character, 0) < 0x20) {
            out += "\\u00";
            append_hex(out, character[0]);
            return;
        }
        out += character;
    });
    out += '"';
}

void append_csv_text(std::string& out, std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        out += text;
        return;
    }
    out += '"';
    for (const char byte : text) {
        out.append(byte == '"' ? 2 : 1, byte);
    }
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

void pad(std::string& out, std::size_t begin, std::size_t width) {
    const std::size_t size = out.size() - begin;
    out.append(size < width ? width - size : 0, ' ');
}

void append_right(std::string& out, std::string_view text, std::size_t width) {
    out.append(text.size() < width ? width - text.size() : 1, ' ').append(text);
}

Value value_of(const TelemetrySample& sample) noexcept {
    Value value;
    value.type = sample.type;
    switch (sample.type) {
        case ValueType::real: value.real = sample.value.real; break;
        case ValueType::integer: value.integer = sample.value.integer; break;
        case ValueType::boolean: value.boolean = sample.value.boolean; break;
        case ValueType::text: value.text = sample.text(); break;
        case ValueType::none: break;
    }
    return value;
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
