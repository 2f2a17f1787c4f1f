#pragma once

#include "rest/rest_route.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// All rows, those of one path beside each other. Threads: any.
[[nodiscard]] const std::vector<const RestRoute*>& rest_table();

/// Where a row stands in rest_table().
struct RestMatch {
    std::size_t row = 0;  // the first one of the path
    std::vector<std::string_view> arguments;
    bool found = false;
};

/// The path's first row. Threads: any.
[[nodiscard]] RestMatch find_path(std::string_view path);
/// The row of the same path that takes the method; null when none does. Threads: any.
[[nodiscard]] const RestRoute* find_method(const RestMatch& match, std::string_view method);
/// "GET, HEAD, PUT". Threads: any.
[[nodiscard]] std::string allowed_methods(const RestMatch& match);
/// The path that was most likely meant; "" when none is near. Threads: any.
[[nodiscard]] std::string_view nearest_path(std::string_view path);
/// "/devices/NAME" for "/devices/{name}". Threads: any.
[[nodiscard]] std::string to_plain_path(std::string_view path);

}  // namespace telegate
