#pragma once

#include "results.hpp"

#include <iosfwd>

namespace telegate::perf {

/// One page with charts and tables that needs nothing else, in light and dark.
void print_matrix_html(std::ostream& out, const Matrix& matrix);

}  // namespace telegate::perf
