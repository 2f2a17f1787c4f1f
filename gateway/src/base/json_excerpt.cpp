#include "base/json_excerpt.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>

namespace telegate {

std::string json_name_excerpt(std::string_view name) {
    constexpr std::size_t bytes_max = 80;
    std::string out(name.substr(0, bytes_max));
    const auto is_control = [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    };
    std::replace_if(out.begin(), out.end(), is_control, '?');
    return name.size() > bytes_max ? out + "..." : out;
}

std::string json_pointer_part(std::string_view name) {
    std::string out = "/";
    for (const char c : json_name_excerpt(name)) {
        if (c == '~' || c == '/') {
            out += c == '~' ? "~0" : "~1";
        } else {
            out += c;
        }
    }
    return out;
}

std::string json_excerpt(const nlohmann::ordered_json& value) {
    constexpr std::size_t bytes_max = 60;
    const std::string text = value.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
    return text.size() > bytes_max ? text.substr(0, bytes_max) + "..." : text;
}

std::string json_text(std::string_view text) {
    const nlohmann::json json = text;
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace telegate
