#pragma once

#include "sample.hpp"

#include <string>
#include <string_view>

namespace telegate::tail {

[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

/// Texts come from devices and peers: what is not UTF-8 becomes U+FFFD.
/// With its quotes; control characters are escaped.
void append_json_text(std::string& out, std::string_view text);
/// For a terminal: control characters become `\x1b`, so that nobody can steer it.
void append_printable(std::string& out, std::string_view text);

/// As in the json format.
void append_json_value(std::string& out, const Value& value);
/// For people and tables: a text without quotes, nothing for no value.
void append_plain_value(std::string& out, const Value& value);

}  // namespace telegate::tail
