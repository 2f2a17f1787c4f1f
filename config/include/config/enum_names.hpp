#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace telegate {

/// The names of a ChoiceRule or a ListRule, and their values.
template <class Enum, std::size_t count>
struct EnumNames {
    std::array<std::string_view, count> names;
    std::array<Enum, count> values;

    /// Returns the value of a name. Throws std::out_of_range if the name is not in `names`. Threads: any.
    [[nodiscard]] constexpr Enum value(std::string_view name) const {
        return values.at(static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin()));
    }
    /// Returns the name of a value. Throws std::out_of_range if the value is not in `values`. Threads: any.
    [[nodiscard]] constexpr std::string_view name(const Enum& value) const {
        return names.at(static_cast<std::size_t>(std::find(values.begin(), values.end(), value) - values.begin()));
    }
};

template <class Enum, std::size_t count>
[[nodiscard]] constexpr EnumNames<Enum, count> enum_names(const std::pair<std::string_view, Enum> (&rows)[count]) {
    EnumNames<Enum, count> table{};
    for (std::size_t i = 0; i < count; ++i) {
        table.names[i] = rows[i].first;
        table.values[i] = rows[i].second;
    }
    return table;
}

/// The same for a list of names that already exists: one value for each name, in the same order.
template <class Enum, std::size_t count>
[[nodiscard]] constexpr EnumNames<Enum, count> enum_names(const std::array<std::string_view, count>& names,
                                                          const Enum (&values)[count]) {
    return {names, std::to_array(values)};
}

}  // namespace telegate
