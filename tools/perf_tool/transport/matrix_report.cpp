#include "matrix_report.hpp"

#include "tables.hpp"

#include <algorithm>
#include <cstddef>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::perf {

namespace {

constexpr std::size_t line_columns_max = 160;
constexpr std::size_t first_column_max = 40;
constexpr std::size_t fact_indent = 15;
constexpr std::size_t fact_name_max = 40;
constexpr std::string_view gap = "  ";

std::string padded(std::string text, std::size_t width, bool to_the_right) {
    const std::size_t missing = width - std::min(width, width_of(text));
    return to_the_right ? std::string(missing, ' ') + std::move(text) : std::move(text) + std::string(missing, ' ');
}

/// Whether the column has the same title above it as the one before.
bool goes_on(const Table& table, std::size_t column) {
    return column > 0 && !table.columns[column].over.empty() &&
           table.columns[column].over == table.columns[column - 1].over;
}

/// How many columns the title above this one spans.
std::size_t span_of(const Table& table, std::size_t column) {
    std::size_t end = column + 1;
    while (end < table.columns.size() && goes_on(table, end)) {
        ++end;
    }
    return end - column;
}

std::vector<std::size_t> widths_of(const Table& table) {
    std::vector<std::size_t> widths;
    for (const Table::Column& column : table.columns) {
        widths.push_back(width_of(column.title));
    }
    for (const Table::Section& section : table.sections) {
        for (const auto& row : section.rows) {
            for (std::size_t column = 0; column < row.size(); ++column) {
                widths[column] = std::max(widths[column], width_of(row[column]));
            }
        }
    }
    widths.front() = std::min(widths.front(), first_column_max);
    return widths;
}

/// One line; columns are padded to their widths, and the line ends where it must.
void print_line(std::ostream& out, const std::vector<std::string>& texts, const Table& table,
                const std::vector<std::size_t>& widths) {
    std::string line;
    for (std::size_t column = 0; column < texts.size(); ++column) {
        line += gap;
        line += padded(cut(texts[column], widths[column]), widths[column], table.columns[column].is_number);
    }
    line = cut(line.substr(0, line.find_last_not_of(' ') + 1), line_columns_max);
    out << line << '\n';
}

void print_text_titles(std::ostream& out, const Table& table, const std::vector<std::size_t>& widths) {
    std::string over;
    std::vector<std::string> titles;
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
        titles.push_back(table.columns[column].title);
        if (goes_on(table, column)) {
            continue;
        }
        const std::size_t span = span_of(table, column);
        std::size_t width = (span - 1) * gap.size();
        for (std::size_t inner = column; inner < column + span; ++inner) {
            width += widths[inner];
        }
        over += gap;
        over += padded(cut(table.columns[column].over, width), width, true);
    }
    out << '\n' << cut(over.substr(0, over.find_last_not_of(' ') + 1), line_columns_max) << '\n';
    print_line(out, titles, table, widths);
}

void print_text_table(std::ostream& out, const Table& table) {
    const std::vector<std::size_t> widths = widths_of(table);
    print_text_titles(out, table, widths);
    for (const Table::Section& section : table.sections) {
        out << cut(section.title, line_columns_max) << '\n';
        for (const auto& row : section.rows) {
            print_line(out, row, table, widths);
        }
    }
}

/// "  name        words, on as many lines as they take".
void print_fact(std::ostream& out, std::string_view name, const std::string& value) {
    std::string line = padded(std::string(gap) + cut(name, fact_name_max), fact_indent - 1, false);
    std::istringstream words(value);
    for (std::string word; words >> word;) {
        word = cut(word, line_columns_max - fact_indent);
        if (width_of(line) + 1 + width_of(word) > line_columns_max) {
            out << line << '\n';
            line = std::string(fact_indent - 1, ' ');
        }
        line += ' ' + word;
    }
    out << line << '\n';
}

}  // namespace

void print_matrix_text(std::ostream& out, const Matrix& matrix) {
    out << "perf_tool " << matrix.command << '\n';
    for (const auto& [name, value] : facts_of(matrix)) {
        print_fact(out, name, value);
    }
    print_text_table(out, summary_table(matrix));
    out << '\n';
    for (const std::string& note : notes_on(matrix)) {
        out << note << '\n';
    }
    print_text_table(out, series_table(matrix));
}

}  // namespace telegate::perf
