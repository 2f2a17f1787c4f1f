#include "svg_report.hpp"

#include "charts.hpp"
#include "drawing.hpp"
#include "tables.hpp"

#include <ostream>
#include <sstream>
#include <string>
#include <string_view>

namespace telegate::perf {

namespace {

constexpr double title_line = 30;  // base line, from the top
constexpr double swatch = 10;
constexpr double second_legend = 220;  // from the left

}  // namespace

using namespace picture;

void print_words(std::ostream& out, double x, double y, std::string_view words) {
    out << "<text x=\"" << fixed(x, 0) << "\" y=\"" << fixed(y, 0) << "\">" << html_of(words) << "</text>\n";
}

void print_legend(std::ostream& out, double x, const char* kind, std::string_view words) {
    out << "<rect class=\"" << kind << "\" x=\"" << fixed(x, 0) << "\" y=\"" << fixed(legend_line - swatch + 1, 0)
        << "\" width=\"" << fixed(swatch, 0) << "\" height=\"" << fixed(swatch, 0) << "\"/>\n";
    print_words(out, x + swatch + 5, legend_line, words);
}

std::string facts_line_of(std::string_view command, const Facts& facts) {
    std::ostringstream line;
    line << "perf_tool " << command;
    for (const auto& [name, value] : facts) {
        if (name == "processor" || name == "version") {
            line << ", " << value;
        } else if (name == "cores") {
            line << ", " << value << " cores";
        } else if (name == "libzmq") {
            line << ", libzmq " << value;
        }
    }
    return line.str();
}

void print_picture_head(std::ostream& out, std::string_view title, double height) {
    const std::string wide = fixed(chart::width + 2 * margin, 0);
    const std::string high = fixed(height, 0);
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << wide << "\" height=\"" << high << "\" viewBox=\"0 0 "
        << wide << ' ' << high << "\" role=\"img\">\n<title>" << html_of(title) << "</title>\n<style>" << chart_style()
        << ".ground { fill: var(--page); stroke: var(--grid); } svg .title { font-size: 15px; font-weight: 600; }\n"
        << "</style>\n<rect class=\"ground\" width=\"100%\" height=\"100%\" rx=\"6\"/>\n<text class=\"title\" x=\""
        << fixed(margin, 0) << "\" y=\"" << fixed(title_line, 0) << "\">" << html_of(title) << "</text>\n";
}

void print_matrix_svg(std::ostream& out, const Matrix& matrix) {
    std::ostringstream chart_text;
    const double chart_height = draw_ratios(chart_text, matrix);
    const std::string title = std::string("Telegate against libzmq: how many times ") +
                              (matrix.lower_is_better ? "shorter" : "as many " + matrix.unit);
    print_picture_head(out, title, chart_top + chart_height + margin);
    print_words(out, margin, facts_line, facts_line_of(matrix.command, facts_of(matrix)));
    if (chart_height > 0) {
        print_legend(out, margin, "libzmq", against_libzmq);
        print_legend(out, margin + second_legend, "best", against_best);
    } else {
        print_words(out, margin, legend_line, "Nothing was measured that can be compared.");
    }
    out << "<g transform=\"translate(" << fixed(margin, 0) << ' ' << fixed(chart_top, 0) << ")\">\n"
        << chart_text.view() << "</g>\n</svg>\n";
}

}  // namespace telegate::perf
