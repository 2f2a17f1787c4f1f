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
    std::string ratios_heading = "speed-up, run by run";
};

void print_text(std::ostream& out, const Report& report);
void print_json(std::ostream& out, const Report& report);

}  // namespace telegate::perf
