#include "serial/frame_format.hpp"

#include "core/text.hpp"

namespace telegate {

std::optional<std::string> to_frame_start(std::string_view hex) {
    constexpr std::size_t digits = 2;
    std::string bytes;
    while (!hex.empty()) {
        if (hex.front() == ' ') {
            hex.remove_prefix(1);
            continue;
        }
        const auto byte = parse_number<unsigned>(hex.substr(0, digits), 16);
        if (hex.size() < digits || !byte) {
            return std::nullopt;
        }
        bytes.push_back(static_cast<char>(*byte));
        hex.remove_prefix(digits);
    }
    return bytes;
}

}  // namespace telegate
