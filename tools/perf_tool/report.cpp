#include "report.hpp"

#include "surroundings.hpp"

#include <nlohmann/json.hpp>

#include <iomanip>
#include <ostream>
#include <string_view>

namespace telegate::perf {

namespace {

constexpr int name_width = 34;
constexpr int value_width = 14;

void print_heading(std::ostream& out, std::string_view name) {
    out << '\n' << std::left << std::setw(name_width) << name << std::right;
    for (const char* column : {"median", "min", "max"}) {
        out << std::setw(value_width) << column;
    }
    out << '\n';
}

void print_row(std::ostream& out, const Row& row, int decimals) {
    const Spread spread = spread_of(row.values);
    out << std::left << std::setw(name_width) << row.name << std::right << std::fixed << std::setprecision(decimals);
    for (const double value : {spread.median, spread.min, spread.max}) {
        out << std::setw(value_width) << value;
    }
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
    print_heading(out, report.unit);
    for (const Row& row : report.rows) {
        print_row(out, row, report.decimals);
    }
    if (!report.ratios.empty()) {
        print_heading(out, report.ratios_heading);
    }
    for (const Row& row : report.ratios) {
        print_row(out, row, 2);
    }
}

void print_json(std::ostream& out, const Report& report) {
    const nlohmann::ordered_json json = {{"command", report.command},
                                         {"surroundings", to_json(surroundings())},
                                         {"parameters", to_json(report.parameters)},
                                         {"unit", report.unit},
                                         {"rows", to_json(report.rows)},
                                         {"ratios", to_json(report.ratios)}};
    constexpr int indent = 2;
    out << json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace telegate::perf
