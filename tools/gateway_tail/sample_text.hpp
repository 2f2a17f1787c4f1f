#pragma once

#include "sample.hpp"

#include <string>
#include <string_view>

namespace telegate::tail {

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// Appends `text` as a JSON string, with quotes. Texts come from devices and peers: invalid UTF-8 becomes U+FFFD, and
/// control characters are escaped.
void append_json_text(std::string& out, std::string_view text);
/// Appends `text` for a terminal. Control characters become `\x1b`, so that a peer cannot send escape sequences to it.
void append_printable(std::string& out, std::string_view text);

/// Appends a value as in the json format.
void append_json_value(std::string& out, const Value& value);
/// Appends a value for text output and tables: text without quotes, and nothing if there is no value.
void append_plain_value(std::string& out, const Value& value);

}  // namespace telegate::tail
