#pragma once

#include "transport/results.hpp"

#include <cstddef>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>

namespace telegate::test {

using Print = void (*)(std::ostream&, const perf::Matrix&);

/// What a report writes.
[[nodiscard]] inline std::string printed(Print print, const perf::Matrix& matrix) {
    std::ostringstream out;
    print(out, matrix);
    return out.str();
}

/// How often `what` stands in `text`.
[[nodiscard]] inline std::size_t count_of(const std::string& text, std::string_view what) {
    std::size_t count = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + what.size())) {
        ++count;
    }
    return count;
}

}  // namespace telegate::test
