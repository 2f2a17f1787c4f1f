#include "rest/rest_query.hpp"

#include "config/quantity.hpp"
#include "http/http_text.hpp"

#include <algorithm>
#include <cstdint>
#include <variant>

namespace telegate {
namespace {

constexpr std::int64_t revert_ms_min = 1'000;
constexpr std::int64_t revert_ms_max = 86'400'000;

}  // namespace

RestQuery::RestQuery(std::string_view target) {
    const std::size_t mark = target.find('?');
    std::string_view rest = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
    rest = rest.substr(0, rest.find('#'));
    while (!rest.empty() && parameters_.size() < parameters_max) {
        const std::string_view pair = rest.substr(0, rest.find('&'));
        rest.remove_prefix(pair.size() + (pair.size() < rest.size() ? 1 : 0));
        const std::size_t equals = pair.find('=');
        if (!pair.empty()) {
            parameters_.emplace_back(
                percent_decoded(pair.substr(0, equals), true),
                percent_decoded(equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1), true));
        }
    }
    has_more_ = !rest.empty();
}

std::vector<std::string_view> RestQuery::names() const {
    std::vector<std::string_view> names;
    for (const auto& [key, value] : parameters_) {
        if (std::find(names.begin(), names.end(), key) == names.end()) {
            names.push_back(key);
        }
    }
    return names;
}

std::vector<std::string_view> RestQuery::all(std::string_view name) const {
    std::vector<std::string_view> values;
    for (const auto& [key, value] : parameters_) {
        if (key == name) {
            values.push_back(value);
        }
    }
    return values;
}

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
