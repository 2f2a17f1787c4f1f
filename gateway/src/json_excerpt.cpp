#include "json_excerpt.hpp"

#include <nlohmann/json.hpp>

namespace telegate {

std::string json_pointer_part(std::string_view name) {
    constexpr std::size_t bytes_max = 80;
    std::string out;
    for (const char c : name.substr(0, bytes_max)) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '~' || c == '/') {
            out += c == '~' ? "~0" : "~1";
        } else {
            out += byte < 0x20 || byte == 0x7f ? '?' : c;
        }
    }
    return "/" + out + (name.size() > bytes_max ? "..." : "");
}

std::string json_excerpt(const nlohmann::ordered_json& value) {
    constexpr std::size_t bytes_max = 60;
    const std::string text = value.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
    return text.size() > bytes_max ? text.substr(0, bytes_max) + "..." : text;
}

}  // namespace telegate
