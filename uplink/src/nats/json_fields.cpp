#include "nats/json_fields.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <system_error>

namespace telegate::uplink {

std::string_view json_value(std::string_view json, std::string_view key) noexcept {
    // A quote within a text has a backslash before it, so a text cannot contain this pattern.
    for (std::size_t at = json.find(key); at != std::string_view::npos; at = json.find(key, at + 1)) {
        const bool is_key = at > 0 && json[at - 1] == '"' && json.substr(at + key.size()).starts_with("\":");
        if (is_key && (at < 2 || json[at - 2] != '\\')) {
            const std::string_view value = json.substr(at + key.size() + 2);
            return value.substr(std::min(value.find_first_not_of(' '), value.size()));
        }
    }
    return {};
}

bool json_is_true(std::string_view json, std::string_view key) noexcept {
    return json_value(json, key).starts_with("true");
}

std::optional<std::uint64_t> json_whole(std::string_view json, std::string_view key) noexcept {
    const std::string_view value = json_value(json, key);
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    return error == std::errc() ? std::optional(number) : std::nullopt;
}

std::string json_text(std::string_view json, std::string_view key) {
    const std::string_view value = json_value(json, key);
    std::string text;
    if (!value.starts_with('"')) {
        return text;
    }
    for (std::size_t i = 1; i < value.size() && value[i] != '"'; ++i) {
        if (value[i] == '\\' && i + 1 < value.size()) {
            ++i;
        }
        text += value[i];
    }
    return text;
}

void append_json_text(std::string_view text, std::string& out) {
    constexpr std::array digits{'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'};
    out += '"';
    for (const char each : text) {
        const auto byte = static_cast<unsigned char>(each);
        if (each == '"' || each == '\\') {
            out += '\\';
            out += each;
        } else if (byte < 0x20) {
            out += "\\u00";
            out += digits[byte >> 4U];
            out += digits[byte & 0xFU];
        } else {
            out += each;
        }
    }
    out += '"';
}

}  // namespace telegate::uplink
