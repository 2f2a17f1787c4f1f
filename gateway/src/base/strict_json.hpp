#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

struct JsonLimits {
    std::size_t depth_max = 0;
    std::size_t keys_max = SIZE_MAX;  // in one object
};

/// Why a text is not accepted.
struct JsonFault {
    std::string what;          // "is not JSON in UTF-8, see byte 17"
    std::string pointer = {};  // to a key that is there twice
    std::size_t byte = 0;      // counted from 1, of what is not JSON

    /// With its place.
    [[nodiscard]] std::string text() const { return pointer.empty() ? what : pointer + ' ' + what; }
};

/// Reads JSON text from outside. Refuses what a parser lets pass: keys that are there twice, too many keys, and values
/// that are nested too deep. Threads: any. Failure: std::bad_alloc.
[[nodiscard]] std::optional<JsonFault> read_strict_json(std::string_view text, JsonLimits limits,
                                                        nlohmann::ordered_json& json);
/// The same where objects have so many keys that finding one must not take long.
[[nodiscard]] std::optional<JsonFault> read_strict_json(std::string_view text, JsonLimits limits, nlohmann::json& json);

}  // namespace telegate
