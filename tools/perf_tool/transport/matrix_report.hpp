#pragma once

#include "results.hpp"

#include <iosfwd>

namespace telegate::perf {

/// The machine, the build, the parameters, one row per cell, then one row per series, in 160 columns.
void print_matrix_text(std::ostream& out, const Matrix& matrix);
/// Everything, every run included.
void print_matrix_json(std::ostream& out, const Matrix& matrix);

}  // namespace telegate::perf
