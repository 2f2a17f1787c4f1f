#include "report.hpp"

#include "surroundings.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iomanip>
#include <limits>
#include <ostream>
#include <string_view>

namespace telegate::perf {

namespace {

constexpr std::size_t name_width_min = 34;
constexpr int value_width = 14;

/// What all names fit into.
int name_width_of(const Report& report) {
    std::size_t width = name_width_min;
    const auto widen = [&width](const std::vector<Row>& rows) {
        for (const Row& row : rows) {
            width = std::max(width, row.name.size() + 1);
        }
    };
    widen(report.rows);
    widen(report.ratios);
    for (const Section& section : report.sections) {
        widen(section.rows);
    }
    return static_cast<int>(width);
}

/// Small figures are shown to a thousandth, large ones whole.
int decimals_of(const Row& row) {
    const Spread spread = spread_of(row.values);
    const bool whole = std::ranges::all_of(row.values, [](double value) { return value == std::round(value); });
    constexpr double small = 10;
    constexpr double large = 1'000;
    return whole || spread.max >= large ? 0 : spread.max >= small ? 1 : 3;
}

void print_goal(std::ostream& out, const Row& row) {
    if (row.goal.kind != Goal::Kind::none) {
        out << "   " << (row.goal.met_by(spread_of(row.values).median) ? "" : "not ")
            << (row.goal.kind == Goal::Kind::at_most ? "at most " : "at least ") << std::defaultfloat
            << std::setprecision(std::numeric_limits<double>::digits10) << row.goal.value;
    }
}

void print_heading(std::ostream& out, std::string_view name, int name_width) {
    out << '\n' << std::left << std::setw(name_width) << name << std::right;
    for (const char* column : {"median", "min", "max"}) {
        out << std::setw(value_width) << column;
    }
    out << '\n';
}

void print_row(std::ostream& out, const Row& row, int name_width, int decimals) {
    const Spread spread = spread_of(row.values);
    out << std::left << std::setw(name_width) << row.name << std::right << std::fixed << std::setprecision(decimals);
    for (const double value : {spread.median, spread.min, spread.max}) {
        out << std::setw(value_width) << value;
    }
    print_goal(out, row);
    out << '\n';
}

nlohmann::ordered_json to_json(const std::vector<Row>& rows) {
    auto list = nlohmann::ordered_json::array();
    for (const Row& row : rows) {
        const Spread spread = spread_of(row.values);
        list.push_back({{"name", row.name},
                        {"median", spread.median},
                        {"min", spread.min},
                        {"max", spread.max},
                        {"runs", row.values}});
        if (row.goal.kind != Goal::Kind::none) {
            const bool at_most = row.goal.kind == Goal::Kind::at_most;
            list.back()["goal"] = {{at_most ? "at_most" : "at_least", row.goal.value},
                                   {"met", row.goal.met_by(spread.median)}};
        }
    }
    return list;
}

nlohmann::ordered_json to_json(const Facts& facts) {
    auto object = nlohmann::ordered_json::object();
    for (const auto& [name, value] : facts) {
        object[name] = value;
    }
    return object;
}

}  // namespace

void print_text(std::ostream& out, const Report& report) {
    out << "perf_tool " << report.command << '\n';
    for (const Facts& facts : {surroundings(), report.parameters}) {
        for (const auto& [name, value] : facts) {
            out << "  " << std::left << std::setw(12) << name << value << '\n';
        }
    }
    const int name_width = name_width_of(report);
    print_heading(out, report.unit, name_width);
    for (const Row& row : report.rows) {
        print_row(out, row, name_width, decimals_of(row));
    }
    for (const Section& section : report.sections) {
        out << '\n' << section.title;
        print_heading(out, section.unit, name_width);
        for (const Row& row : section.rows) {
            print_row(out, row, name_width, section.decimals.value_or(decimals_of(row)));
        }
    }
    if (!report.ratios.empty()) {
        print_heading(out, report.ratios_heading, name_width);
    }
    for (const Row& row : report.ratios) {
        print_row(out, row, name_width, 2);
    }
}

void print_json(std::ostream& out, const Report& report) {
    nlohmann::ordered_json json = {{"command", report.command},
                                   {"surroundings", to_json(surroundings())},
                                   {"parameters", to_json(report.parameters)},
                                   {"unit", report.unit},
                                   {"rows", to_json(report.rows)},
                                   {"ratios", to_json(report.ratios)}};
    for (const Section& section : report.sections) {
        json["sections"].push_back({{"title", section.title}, {"unit", section.unit}, {"rows", to_json(section.rows)}});
    }
    constexpr int indent = 2;
    out << json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace telegate::perf
