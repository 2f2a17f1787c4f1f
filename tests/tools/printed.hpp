#pragma once

#include "transport/results.hpp"

#include <ostream>
#include <sstream>
#include <string>

namespace telegate::test {

using Print = void (*)(std::ostream&, const perf::Matrix&);

/// What a report writes.
[[nodiscard]] inline std::string printed(Print print, const perf::Matrix& matrix) {
    std::ostringstream out;
    print(out, matrix);
    return out.str();
}

}  // namespace telegate::test
