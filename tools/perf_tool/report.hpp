#pragma once

#include "statistics.hpp"

#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace telegate::perf {

/// Rows that belong together and do not compare with others.
struct Section {
    std::string title;
    std::string unit;
    std::vector<Row> rows;
    std::optional<int> decimals = 0;  // none: as many as each row needs
};

/// What a command found out. Printed with the machine, the build and the compiler, without which figures mean nothing.
struct Report {
    std::string command;
    std::string unit;  // of rows
    std::vector<std::pair<std::string, std::string>> parameters;
    std::vector<Row> rows;
    std::vector<Row> ratios;
    std::vector<Section> sections{};
    std::string ours{};  // how the rows begin that a chart is to show as Telegate's; empty for all
    std::string ratios_heading = "speed-up, run by run";
};

[[nodiscard]] int decimals_in(const Section& section, const Row& row);

void print_text(std::ostream& out, const Report& report);
void print_json(std::ostream& out, const Report& report);
/// Tables for a page.
void print_markdown(std::ostream& out, const Report& report);
/// One page with charts and tables that needs nothing else, in light and dark.
void print_html(std::ostream& out, const Report& report);
/// One picture of all rows that needs nothing else.
void print_svg(std::ostream& out, const Report& report);

}  // namespace telegate::perf
