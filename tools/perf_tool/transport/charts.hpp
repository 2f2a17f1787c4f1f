#pragma once

#include "results.hpp"
#include "standing.hpp"

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::perf {

/// Safe as text and in quoted attributes of HTML and SVG.
[[nodiscard]] std::string html_of(std::string_view text);

/// What the classes of the drawings look like, in light and dark.
[[nodiscard]] std::string_view chart_style();

/// What the two colours of the ratios mean.
inline constexpr std::string_view against_libzmq = "against libzmq as reported";
inline constexpr std::string_view against_best = "against its best variant, where that is another";

/// SVG: how many times better than libzmq, per cell, on a log axis, as bars that begin at a line at 1.
/// Returns the height; 0, and draws nothing, when nothing can be compared.
double draw_ratios(std::ostream& out, const Matrix& matrix);

namespace chart {
struct BarRow;
}

/// SVG: the medians on a log axis, each with a line from the least to the greatest. Returns the height; 0, and draws
/// nothing, when there is nothing that such an axis can show.
double draw_bars(std::ostream& out, const std::string& title, const std::vector<chart::BarRow>& rows);

/// SVG: the medians of one group, a bar per engine, on a log axis, each with a line from the least to the greatest.
void draw_rates(std::ostream& out, const Matrix& matrix, const Group& group);

}  // namespace telegate::perf
