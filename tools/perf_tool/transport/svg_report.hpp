#pragma once

#include "../surroundings.hpp"
#include "results.hpp"

#include <iosfwd>
#include <string>
#include <string_view>

namespace telegate::perf {

/// One picture of the ratios that needs nothing else, on a ground of its own, in light and dark.
void print_matrix_svg(std::ostream& out, const Matrix& matrix);

/// Where the parts of a picture stand, in its units.
namespace picture {
inline constexpr double margin = 16;
inline constexpr double facts_line = 50;  // base lines, from the top
inline constexpr double legend_line = 74;
inline constexpr double chart_top = 92;
}  // namespace picture

/// From the opening tag to the title on its ground; a picture ends with "</svg>\n".
void print_picture_head(std::ostream& out, std::string_view title, double height);
void print_words(std::ostream& out, double x, double y, std::string_view words);
/// A square of a class of the style, and what it stands for.
void print_legend(std::ostream& out, double x, const char* kind, std::string_view words);
/// The command, the machine and the versions, on one line.
[[nodiscard]] std::string facts_line_of(std::string_view command, const Facts& facts);

}  // namespace telegate::perf
