#pragma once

#include "rest/rest_route.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Returns all rows; those of one path are adjacent. Threads: any.
[[nodiscard]] const std::vector<const RestRoute*>& rest_table();

/// The position of a row in rest_table().
struct RestMatch {
    std::size_t row = 0;  // the first row of the path
    std::vector<std::string_view> arguments;
    bool found = false;
};

/// Returns the first row of the path. Threads: any.
[[nodiscard]] RestMatch find_path(std::string_view path);
/// Returns the row of the same path with this method, or nullptr. Threads: any.
[[nodiscard]] const RestRoute* find_method(const RestMatch& match, std::string_view method);
/// Returns "GET, HEAD, PUT". Threads: any.
[[nodiscard]] std::string allowed_methods(const RestMatch& match);
/// Returns the path that was probably meant; "" if none is near. Threads: any.
[[nodiscard]] std::string_view nearest_path(std::string_view path);
/// Returns "/devices/NAME" for "/devices/{name}". Threads: any.
[[nodiscard]] std::string to_plain_path(std::string_view path);

}  // namespace telegate
