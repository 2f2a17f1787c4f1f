#include "report.hpp"

#include <nlohmann/json.hpp>

#include <sys/utsname.h>

#include <fstream>
#include <iomanip>
#include <limits>
#include <ostream>
#include <sstream>
#include <thread>

namespace telegate::perf {

namespace {

constexpr std::size_t name_width_min = 34;
constexpr int value_width = 14;

/// Small figures have three decimals; large and whole ones have none.
int decimals_of(const Row& row) {
    const double max = spread_of(row.values).max;
    const bool whole = std::ranges::all_of(row.values, [](double value) { return value == std::round(value); });
    return whole || max >= 1'000 ? 0 : max >= 10 ? 1 : 3;
}

void print_row(std::ostream& out, const Row& row, int name_width, int decimals) {
    const Spread spread = spread_of(row.values);
    out << std::left << std::setw(name_width) << row.name << std::right << std::fixed << std::setprecision(decimals);
    for (const double value : {spread.median, spread.min, spread.max}) {
        out << std::setw(value_width) << value;
    }
    if (row.goal.kind != nullptr) {
        out << "   " << (row.goal.met_by(spread.median) ? "met: " : "not met: ") << row.goal.kind << ' '
            << text_of(row.goal.value);
    }
    out << '\n';
}

void print_section(std::ostream& out, const Section& section, int name_width, bool are_ratios) {
    if (section.rows.empty()) {
        return;
    }
    out << '\n' << section.title << (section.title.empty() ? "" : "\n");
    out << std::left << std::setw(name_width) << section.unit << std::right;
    for (const char* column : {"median", "min", "max"}) {
        out << std::setw(value_width) << column;
    }
    out << '\n';
    for (const Row& row : section.rows) {
        print_row(out, row, name_width, are_ratios ? 2 : decimals_of(row));
    }
}

nlohmann::ordered_json json_of(const std::vector<Row>& rows) {
    auto list = nlohmann::ordered_json::array();
    for (const Row& row : rows) {
        const Spread spread = spread_of(row.values);
        list.push_back({{"name", row.name},
                        {"median", spread.median},
                        {"min", spread.min},
                        {"max", spread.max},
                        {"runs", row.values}});
        if (row.goal.kind != nullptr) {
            list.back()["goal"] = {{row.goal.kind, row.goal.value}, {"met", row.goal.met_by(spread.median)}};
        }
    }
    return list;
}

void add_value(std::vector<Row>& rows, Row row, double value) {
    auto found = std::ranges::find(rows, row.name, &Row::name);
    if (found == rows.end()) {
        found = rows.insert(found, std::move(row));
    }
    found->values.push_back(value);
}

std::string processor_name() {
    constexpr std::string_view key = "model name\t: ";
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with(key)) {
            return line.substr(key.size());
        }
    }
    return "unknown";
}

/// Returns the last number of a kernel setting in bytes, which is the largest if there are three.
std::string bytes_in(const char* setting) {
    std::ifstream file(setting);
    std::string last;
    for (std::string word; file >> word;) {
        last = word;
    }
    return last.empty() ? "unknown" : "at most " + last + " bytes";
}

#if defined(__clang__)
constexpr const char* compiler_name = __VERSION__;
#else
constexpr const char* compiler_name = "GCC " __VERSION__;
#endif

}  // namespace

Spread spread_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    return {median, values.front(), values.back()};
}

Row ratio(std::string name, const Row& over, const Row& under) {
    Row row{std::move(name)};
    for (std::size_t run = 0; run < std::min(over.values.size(), under.values.size()); ++run) {
        row.values.push_back(over.values[run] / under.values[run]);
    }
    return row;
}

const Row* find_row(const std::vector<Row>& rows, std::string_view name) {
    const auto found = std::ranges::find(rows, name, &Row::name);
    return found == rows.end() ? nullptr : &*found;
}

void Section::add(const std::string& name, double value, const Goal& goal) {
    add_value(rows, {name, {}, goal}, value);
}

void Report::add(const std::string& name, double value, const Goal& goal) {
    add_value(rows, {name, {}, goal}, value);
}

Section& Report::section(const std::string& title, const std::string& unit_of_rows) {
    const auto found = std::ranges::find(sections, title, &Section::title);
    return found != sections.end() ? *found : sections.emplace_back(Section{title, unit_of_rows});
}

void Report::add_ratio(std::string name, const Row* over, const Row* under, const Goal& goal) {
    if (over != nullptr && under != nullptr) {
        ratios.push_back(ratio(std::move(name), *over, *under));
        ratios.back().goal = goal;
    }
}

void Report::add_ratio(std::string name, const std::string& over, const std::string& under, const Goal& goal) {
    add_ratio(std::move(name), find_row(rows, over), find_row(rows, under), goal);
}

void print_head(std::ostream& out, const std::string& command, const Facts& parameters) {
    constexpr int width = 20;
    out << "perf_tool " << command << '\n';
    for (const Facts& facts : {surroundings(), parameters}) {
        for (const auto& [name, value] : facts) {
            out << "  " << std::left << std::setw(width) << name << value << '\n';
        }
    }
}

void print_text(std::ostream& out, const Report& report) {
    print_head(out, report.command, report.parameters);
    print_tables(out, report);
}

void print_tables(std::ostream& out, const Report& report) {
    std::vector<Section> all{{"", report.unit, report.rows}};
    all.insert(all.end(), report.sections.begin(), report.sections.end());
    all.push_back({"", report.ratios_heading, report.ratios});
    std::size_t name_width = name_width_min;
    for (const Section& section : all) {
        for (const Row& row : section.rows) {
            name_width = std::max(name_width, row.name.size() + 1);
        }
    }
    for (const Section& section : all) {
        print_section(out, section, static_cast<int>(name_width), &section == &all.back());
    }
}

void print_json(std::ostream& out, const Report& report) {
    nlohmann::ordered_json json = {{"command", report.command},
                                   {"surroundings", json_of(surroundings())},
                                   {"parameters", json_of(report.parameters)},
                                   {"unit", report.unit},
                                   {"rows", json_of(report.rows)},
                                   {"ratios", json_of(report.ratios)}};
    for (const Section& section : report.sections) {
        json["sections"].push_back({{"title", section.title}, {"unit", section.unit}, {"rows", json_of(section.rows)}});
    }
    print_document(out, json);
}

Facts surroundings() {
    utsname system{};
    const bool known = ::uname(&system) == 0;
    return {{"processor", processor_name()},
            {"cores", std::to_string(std::thread::hardware_concurrency())},
            {"system", known ? std::string(system.sysname) + " " + system.release : "unknown"},
            {"wmem_max", bytes_in("/proc/sys/net/core/wmem_max")},
            {"tcp_wmem", bytes_in("/proc/sys/net/ipv4/tcp_wmem")},
            {"compiler", compiler_name},
            {"build", TELEGATE_BUILD},
            {"flags", TELEGATE_FLAGS},
            {"version", "Telegate " TELEGATE_VERSION}};
}

nlohmann::ordered_json json_of(const Facts& facts) {
    auto object = nlohmann::ordered_json::object();
    for (const auto& [name, value] : facts) {
        object[name] = value;
    }
    return object;
}

void print_document(std::ostream& out, const nlohmann::ordered_json& json) {
    out << json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) << '\n';
}

std::string text_of(double number) {
    std::ostringstream text;
    text << std::setprecision(std::numeric_limits<double>::digits10) << number;
    return text.str();
}

}  // namespace telegate::perf
