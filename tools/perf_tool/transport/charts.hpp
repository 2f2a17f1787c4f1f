#pragma once

#include "results.hpp"
#include "standing.hpp"

#include <iosfwd>
#include <string>
#include <string_view>

namespace telegate::perf {

/// Safe as text and in quoted attributes of HTML and SVG.
[[nodiscard]] std::string html_of(std::string_view text);

/// SVG: how many times better than libzmq, per cell, on a log axis, as bars that begin at a line at 1.
/// Nothing when nothing can be compared. Colours are the page's classes "telegate", "libzmq", "best" and "raw".
void draw_ratios(std::ostream& out, const Matrix& matrix);

/// SVG: the medians of one group, a bar per engine, on a log axis, each with a line from the least to the greatest.
void draw_rates(std::ostream& out, const Matrix& matrix, const Group& group);

}  // namespace telegate::perf
