#include "serial/frame_format.hpp"

#include "core/text.hpp"

#include <iterator>

namespace telegate {

std::optional<FrameNumber> to_frame_number(std::string_view name) noexcept {
    const auto* const found = std::ranges::find(named_frame_numbers, name, [](const auto& row) { return row.first; });
    return found == std::end(named_frame_numbers) ? std::nullopt : found->second;
}

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
