#pragma once

#include "../surroundings.hpp"
#include "results.hpp"

#include <iosfwd>
#include <string_view>

namespace telegate::perf {

/// One page with charts and tables that needs nothing else, in light and dark.
void print_matrix_html(std::ostream& out, const Matrix& matrix);

/// From the doctype to the heading and the facts; the page ends with "</body>\n</html>\n".
void print_page_head(std::ostream& out, std::string_view title, const Facts& facts);

}  // namespace telegate::perf
