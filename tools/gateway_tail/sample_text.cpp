#include "sample_text.hpp"

#include "base/json_object.hpp"
#include "core/text.hpp"
#include "core/utf8.hpp"

#include <algorithm>
#include <cmath>

namespace telegate::tail {
namespace {

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
    while (!text.empty()) {
        const std::size_t bytes = utf8_bytes(text);
        const std::string_view character = text.substr(0, std::max<std::size_t>(bytes, 1));
        text.remove_prefix(character.size());
        if (bytes == 0 || !is_control(character)) {
            out += bytes == 0 ? replacement_character : character;
        } else {
            append_escaped(out, character);
        }
    }
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
        case ValueType::real:
            if (value.real == 0 && std::signbit(value.real)) {
                out += "-0.0";  // many readers take "-0" for the integer 0
            } else {
                std::isfinite(value.real) ? append_number(out, value.real) : void(out += "null");
            }
            break;
        case ValueType::integer: append_number(out, value.integer); break;
        case ValueType::boolean: out += value.boolean ? "true" : "false"; break;
        case ValueType::text: append_quoted(out, value.text); break;
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
