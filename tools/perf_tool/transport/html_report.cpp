#include "html_report.hpp"

#include "charts.hpp"
#include "standing.hpp"
#include "tables.hpp"

#include <cstddef>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>

namespace telegate::perf {

namespace {

constexpr std::string_view style = R"(
body { background: var(--page); color: var(--ink); font: 15px/1.45 system-ui, sans-serif;
  max-width: 1200px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; } h3 { font-size: 1rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; white-space: nowrap; }
th, td { padding: .15rem .6rem; text-align: left; } thead th, .number { text-align: right; }
thead th.words { text-align: left; }
thead tr:last-child th, tbody th { border-bottom: 1px solid var(--grid); } tbody th { padding-top: .8rem; }
thead th { color: var(--soft); font-weight: 500; }
.legend span { margin-right: 1.2rem; white-space: nowrap; }
.legend i { display: inline-block; width: .8em; height: .8em; margin-right: .4em; }
svg { display: block; width: 100%; max-width: 1000px; height: auto; }
)";

const char* alignment(const Table::Column& column) {
    return column.is_number ? "number" : "words";
}

void print_titles(std::ostream& out, const Table& table) {
    out << "<thead><tr>";
    for (std::size_t column = 0; column < table.columns.size();) {
        std::size_t end = column + 1;
        while (end < table.columns.size() && !table.columns[column].over.empty() &&
               table.columns[end].over == table.columns[column].over) {
            ++end;
        }
        out << "<th colspan=\"" << end - column << "\" class=\"" << alignment(table.columns[column]) << "\">"
            << html_of(table.columns[column].over) << "</th>";
        column = end;
    }
    out << "</tr>\n<tr>";
    for (const Table::Column& column : table.columns) {
        out << "<th class=\"" << alignment(column) << "\">" << html_of(column.title) << "</th>";
    }
    out << "</tr></thead>\n";
}

void print_table(std::ostream& out, const Table& table) {
    out << "<div class=\"wide\"><table>\n";
    print_titles(out, table);
    for (const Table::Section& section : table.sections) {
        out << "<tbody><tr><th colspan=\"" << table.columns.size() << "\">" << html_of(section.title) << "</th></tr>\n";
        for (const auto& row : section.rows) {
            out << "<tr>";
            for (std::size_t column = 0; column < row.size(); ++column) {
                out << "<td class=\"" << alignment(table.columns[column]) << "\">" << html_of(row[column]) << "</td>";
            }
            out << "</tr>\n";
        }
        out << "</tbody>\n";
    }
    out << "</table></div>\n";
}

void print_facts(std::ostream& out, const Facts& facts) {
    out << "<dl>\n";
    for (const auto& [name, value] : facts) {
        out << "<dt>" << html_of(name) << "</dt><dd>" << html_of(value) << "</dd>\n";
    }
    out << "</dl>\n";
}

void print_ratios(std::ostream& out, const Matrix& matrix) {
    std::ostringstream drawing;
    if (draw_ratios(drawing, matrix) == 0) {
        return;
    }
    out << "<h2>Against libzmq</h2>\n<p>How many times better, run by run, the median; above 1, Telegate is ahead. "
           "The thin line goes from the least to the greatest run.</p>\n<p class=\"legend\">"
           "<span><i class=\"libzmq\"></i>"
        << against_libzmq << "</span><span><i class=\"best\"></i>" << against_best << "</span></p>\n"
        << drawing.view();
}

void print_rates(std::ostream& out, const Matrix& matrix) {
    out << "<h2>Medians, " << html_of(matrix.unit) << "</h2>\n<p>On a log axis; "
        << (matrix.lower_is_better ? "less" : "more") << " is better.</p>\n<p class=\"legend\">"
        << "<span><i class=\"telegate\"></i>Telegate</span><span><i class=\"libzmq\"></i>libzmq as reported</span>"
           "<span><i class=\"best\"></i>best libzmq variant</span><span><i class=\"raw\"></i>raw</span></p>\n";
    for (const Group& group : groups_of(matrix)) {
        out << "<h3>" << html_of(group.name) << "</h3>\n";
        draw_rates(out, matrix, group);
    }
}

}  // namespace

void print_page_head(std::ostream& out, std::string_view title, const Facts& facts) {
    out << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>"
        << html_of(title) << "</title>\n<style>" << chart_style() << style << "</style>\n</head>\n<body>\n<h1>"
        << html_of(title) << "</h1>\n";
    print_facts(out, facts);
}

void print_matrix_html(std::ostream& out, const Matrix& matrix) {
    print_page_head(out, "perf_tool " + matrix.command, facts_of(matrix));
    print_ratios(out, matrix);
    print_rates(out, matrix);
    out << "<h2>All cells</h2>\n";
    print_table(out, summary_table(matrix));
    out << "<ul>\n";
    for (const std::string& note : notes_on(matrix)) {
        out << "<li>" << html_of(note) << "</li>\n";
    }
    out << "</ul>\n<details><summary>All series</summary>\n";
    print_table(out, series_table(matrix));
    out << "</details>\n</body>\n</html>\n";
}

}  // namespace telegate::perf
