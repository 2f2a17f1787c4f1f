#include "device/frame_format.hpp"

#include <array>
#include <charconv>
#include <system_error>

namespace telegate {
namespace {

struct NamedNumber {
    std::string_view name;
    FrameNumber number;
};

using Kind = FrameNumber::Kind;

constexpr std::array<NamedNumber, 10> numbers{{{"int8", {Kind::signed_integer, 1}},
                                               {"uint8", {Kind::unsigned_integer, 1}},
                                               {"int16", {Kind::signed_integer, 2}},
                                               {"uint16", {Kind::unsigned_integer, 2}},
                                               {"int32", {Kind::signed_integer, 4}},
                                               {"uint32", {Kind::unsigned_integer, 4}},
                                               {"int64", {Kind::signed_integer, 8}},
                                               {"uint64", {Kind::unsigned_integer, 8}},
                                               {"float32", {Kind::real, 4}},
                                               {"float64", {Kind::real, 8}}}};

}  // namespace

std::optional<FrameNumber> to_frame_number(std::string_view text) noexcept {
    const std::size_t line = text.find('_');
    const std::string_view order = line == std::string_view::npos ? std::string_view() : text.substr(line);
    for (const NamedNumber& each : numbers) {
        const bool has_order = each.number.bytes > 1;
        if (each.name == text.substr(0, line) && (has_order ? order == "_be" || order == "_le" : order.empty())) {
            FrameNumber number = each.number;
            number.little_endian = order == "_le";
            return number;
        }
    }
    return std::nullopt;
}

std::optional<std::string> to_frame_start(std::string_view hex) {
    constexpr std::size_t digits = 2;
    std::string bytes;
    while (!hex.empty()) {
        if (hex.front() == ' ') {
            hex.remove_prefix(1);
            continue;
        }
        unsigned byte = 0;
        const std::string_view pair = hex.substr(0, digits);
        const auto [end, error] = std::from_chars(pair.data(), pair.data() + pair.size(), byte, 16);
        if (pair.size() < digits || error != std::errc{} || end != pair.data() + pair.size()) {
            return std::nullopt;
        }
        bytes.push_back(static_cast<char>(byte));
        hex.remove_prefix(digits);
    }
    return bytes;
}

}  // namespace telegate
