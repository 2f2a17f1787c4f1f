#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::perf {

/// Whether a command line names it.
[[nodiscard]] inline bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

}  // namespace telegate::perf
