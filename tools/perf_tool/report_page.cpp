#include "report.hpp"
#include "surroundings.hpp"
#include "transport/charts.hpp"
#include "transport/drawing.hpp"
#include "transport/html_report.hpp"
#include "transport/svg_report.hpp"
#include "transport/tables.hpp"

#include <optional>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace telegate::perf {

namespace {

using namespace chart;

Facts facts_of(const Report& report) {
    Facts facts = surroundings();
    facts.insert(facts.end(), report.parameters.begin(), report.parameters.end());
    return facts;
}

/// All that was measured, and the speed-ups where a form shows them too.
std::vector<Section> sections_of(const Report& report, bool with_ratios) {
    std::vector<Section> sections;
    if (!report.rows.empty()) {
        sections.push_back({report.command, report.unit, report.rows, std::nullopt});
    }
    sections.insert(sections.end(), report.sections.begin(), report.sections.end());
    if (with_ratios && !report.ratios.empty()) {
        constexpr int decimals = 2;
        sections.push_back({report.ratios_heading, "", report.ratios, decimals});
    }
    return sections;
}

std::string title_of(const Section& section) {
    return section.unit.empty() ? section.title : section.title + ", " + section.unit;
}

/// Returns the height; 0 when there is nothing to draw.
double draw(std::ostream& out, const Report& report, const Section& section) {
    std::vector<BarRow> rows;
    for (const Row& row : section.rows) {
        if (can_show(row.values)) {
            const char* const color = row.name.starts_with(report.ours) ? "telegate" : "raw";
            rows.push_back({row.name, {{color, row.name, row.values}}});
        }
    }
    return draw_bars(out, title_of(section) + ", log axis", rows);
}

void print_table(std::ostream& out, const Section& section) {
    out << "<div class=\"wide\"><table>\n<thead><tr><th class=\"words\"></th><th>median</th><th>min</th><th>max</th>"
           "</tr></thead>\n<tbody>\n";
    for (const Row& row : section.rows) {
        const Spread spread = spread_of(row.values);
        out << "<tr><td class=\"words\">" << html_of(row.name) << "</td>";
        for (const double value : {spread.median, spread.min, spread.max}) {
            out << "<td class=\"number\">" << fixed(value, decimals_in(section, row)) << "</td>";
        }
        out << "</tr>\n";
    }
    out << "</tbody>\n</table></div>\n";
}

}  // namespace

void print_markdown(std::ostream& out, const Report& report) {
    out << "- command: perf_tool " << report.command << '\n';
    for (const auto& [name, value] : facts_of(report)) {
        out << "- " << name << ": " << value << '\n';
    }
    for (const Section& section : sections_of(report, true)) {
        out << '\n' << title_of(section) << ":\n\n| | median | min | max |\n|---|---:|---:|---:|\n";
        for (const Row& row : section.rows) {
            const Spread spread = spread_of(row.values);
            out << "| " << row.name;
            for (const double value : {spread.median, spread.min, spread.max}) {
                out << " | " << fixed(value, decimals_in(section, row));
            }
            out << " |\n";
        }
    }
}

void print_html(std::ostream& out, const Report& report) {
    print_page_head(out, "perf_tool " + report.command, facts_of(report));
    out << "<p>Medians; the thin line goes from the least to the greatest run.</p>\n";
    for (const Section& section : sections_of(report, true)) {
        out << "<h2>" << html_of(title_of(section)) << "</h2>\n";
        draw(out, report, section);
        print_table(out, section);
    }
    out << "</body>\n</html>\n";
}

void print_svg(std::ostream& out, const Report& report) {
    std::ostringstream charts;
    double height = picture::legend_line;
    for (const Section& section : sections_of(report, false)) {
        std::ostringstream one;
        const double high = draw(one, report, section);
        if (high > 0) {
            charts << "<text class=\"heading\" x=\"" << fixed(picture::margin, 0) << "\" y=\""
                   << fixed(height + picture::margin, 0) << "\">" << html_of(title_of(section)) << "</text>\n";
            height += heading_height + picture::margin;
            charts << "<g transform=\"translate(" << fixed(picture::margin, 0) << ' ' << fixed(height, 0) << ")\">\n"
                   << one.view() << "</g>\n";
            height += high;
        }
    }
    print_picture_head(out, "perf_tool " + report.command + ": medians, on log axes", height + picture::margin);
    print_words(out, picture::margin, picture::facts_line, facts_line_of(report.command, facts_of(report)));
    out << charts.view() << "</svg>\n";
}

}  // namespace telegate::perf
