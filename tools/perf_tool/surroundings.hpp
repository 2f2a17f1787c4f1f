#pragma once

#include <string>
#include <utility>
#include <vector>

namespace telegate::perf {

/// Names with what they stand for, in the order to be shown.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// The machine, the build and the compiler, without which figures mean nothing.
[[nodiscard]] Facts surroundings();

}  // namespace telegate::perf
