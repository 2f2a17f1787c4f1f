#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace telegate::uplink {

/// Parses the JSON of a server; the result is discarded if it is invalid. Deeply nested values are omitted, so the
/// memory is at most a multiple of the size of the text.
[[nodiscard]] inline nlohmann::json parse_json(std::string_view text) {
    constexpr int depth_max = 8;
    return nlohmann::json::parse(
        text,
        [](int depth, nlohmann::json::parse_event_t /*event*/, nlohmann::json& /*parsed*/) {
            return depth < depth_max;
        },
        false);
}

/// Returns a member; null if there is none.
[[nodiscard]] inline const nlohmann::json& json_member(const nlohmann::json& json, const char* key) {
    static const nlohmann::json none;
    const auto found = json.is_object() ? json.find(key) : json.end();
    return json.is_object() && found != json.end() ? *found : none;
}

[[nodiscard]] inline std::string json_string(const nlohmann::json& json) {
    return json.is_string() ? json.get<std::string>() : std::string();
}

[[nodiscard]] inline std::int64_t json_number(const nlohmann::json& json) {
    return json.is_number_integer() ? json.get<std::int64_t>() : 0;
}

}  // namespace telegate::uplink
