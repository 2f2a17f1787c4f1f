#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

struct JsonLimits {
    std::size_t depth_max = 0;
    std::size_t keys_max = SIZE_MAX;  // per object
};

/// Why a text was rejected.
struct JsonFault {
    std::string what;          // "is not JSON in UTF-8, see byte 17"
    std::string pointer = {};  // to the duplicate key
    std::size_t byte = 0;      // counted from 1, of the syntax error

    /// Returns the error text with its location.
    [[nodiscard]] std::string text() const { return pointer.empty() ? what : pointer + ' ' + what; }
};

/// Parses untrusted JSON. Also rejects what the parser accepts: duplicate keys, too many keys and too deeply nested
/// values. Threads: any. Failure: std::bad_alloc.
[[nodiscard]] std::optional<JsonFault> read_strict_json(std::string_view text, JsonLimits limits,
                                                        nlohmann::ordered_json& json);
/// Like read_strict_json() above, with fast lookup for objects with many keys.
[[nodiscard]] std::optional<JsonFault> read_strict_json(std::string_view text, JsonLimits limits, nlohmann::json& json);

}  // namespace telegate
