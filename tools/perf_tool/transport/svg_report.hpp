#pragma once

#include "results.hpp"

#include <iosfwd>

namespace telegate::perf {

/// One picture of the ratios that needs nothing else, on a ground of its own, in light and dark.
void print_matrix_svg(std::ostream& out, const Matrix& matrix);

}  // namespace telegate::perf
