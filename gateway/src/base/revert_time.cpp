#include "base/revert_time.hpp"

#include "config/quantity.hpp"

#include <cstdint>
#include <variant>

namespace telegate {
namespace {

constexpr std::int64_t revert_ms_min = 1'000;
constexpr std::int64_t revert_ms_max = 86'400'000;

}  // namespace

std::optional<std::chrono::milliseconds> parse_revert_after(std::string_view text) {
    const bool has_unit = !text.empty() && text.find_first_not_of("-0123456789.") != std::string_view::npos;
    const auto parsed = parse_quantity(text, "ms");
    const auto* const number = std::get_if<std::int64_t>(&parsed);
    if (!has_unit || number == nullptr || *number < revert_ms_min || *number > revert_ms_max) {
        return std::nullopt;
    }
    return std::chrono::milliseconds(*number);
}

}  // namespace telegate
