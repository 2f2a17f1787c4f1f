#include "report.hpp"

#include <nlohmann/json.hpp>

#include <sys/utsname.h>

#include <fstream>
#include <iomanip>
#include <ostream>
#include <thread>

namespace telegate::perf {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t name_width_min = 34;
constexpr int value_width = 14;

#if defined(__clang__)
constexpr const char* compiler_name = __VERSION__;
#else
constexpr const char* compiler_name = "GCC " __VERSION__;
#endif

/// Small figures have three decimals; large and whole ones have none.
int decimals_of(const Row& row) {
    const double max = spread_of(row.values).max;
    const bool whole = std::ranges::all_of(row.values, [](double value) { return value == std::round(value); });
    return whole || max >= 1'000 ? 0 : max >= 10 ? 1 : 3;
}

void print_row(std::ostream& out, const Row& row, int name_width) {
    const Spread spread = spread_of(row.values);
    out << std::left << std::setw(name_width) << row.name << std::right << std::fixed
        << std::setprecision(decimals_of(row));
    for (const double value : {spread.median, spread.min, spread.max}) {
        out << std::setw(value_width) << value;
    }
    if (row.goal.kind != nullptr) {
        out << "   " << (row.goal.met_by(spread.median) ? "met: " : "not met: ") << row.goal.kind << ' '
            << std::defaultfloat << std::setprecision(10) << row.goal.value;
    }
    out << '\n';
}

ordered_json json_of(const Facts& facts) {
    auto object = ordered_json::object();
    for (const auto& [name, value] : facts) {
        object[name] = value;
    }
    return object;
}

ordered_json json_of(const Row& row) {
    const Spread spread = spread_of(row.values);
    ordered_json json = {
        {"name", row.name}, {"median", spread.median}, {"min", spread.min}, {"max", spread.max}, {"runs", row.values}};
    if (row.goal.kind != nullptr) {
        json["goal"] = {{row.goal.kind, row.goal.value}, {"met", row.goal.met_by(spread.median)}};
    }
    return json;
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

/// Returns the element with this value of a member, which is appended if there is none.
template <class Element>
Element& found_in(std::vector<Element>& elements, const std::string& name, std::string Element::*member) {
    const auto found = std::ranges::find(elements, name, member);
    return found != elements.end() ? *found : elements.emplace_back(Element{name});
}

}  // namespace

Spread spread_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    return {median, values.front(), values.back()};
}

void Report::add(const std::string& table, const std::string& row, double value, const Goal& goal) {
    Row& found = found_in(found_in(tables, table, &Table::title).rows, row, &Row::name);
    found.values.push_back(value);
    found.goal = goal;
}

const Row* Report::find(std::string_view table, std::string_view row) const {
    const auto found = std::ranges::find(tables, table, &Table::title);
    if (found == tables.end()) {
        return nullptr;
    }
    const auto place = std::ranges::find(found->rows, row, &Row::name);
    return place == found->rows.end() ? nullptr : &*place;
}

void Report::add_ratio(const std::string& table, const std::string& row, const Ratio& ratio, const Goal& goal) {
    if (ratio.over == nullptr || ratio.under == nullptr) {
        return;
    }
    const std::vector<double> over = ratio.over->values;
    const std::vector<double> under = ratio.under->values;
    for (std::size_t run = 0; run < std::min(over.size(), under.size()); ++run) {
        add(table, row, over[run] / under[run], goal);
    }
}

void print_head(std::ostream& out, const Report& report) {
    constexpr int width = 20;
    out << "perf_tool " << report.command << '\n';
    for (const Facts& facts : {surroundings(), report.parameters}) {
        for (const auto& [name, value] : facts) {
            out << "  " << std::left << std::setw(width) << name << value << '\n';
        }
    }
}

void print_tables(std::ostream& out, std::span<const Table> tables) {
    std::size_t widest = name_width_min;
    for (const Table& table : tables) {
        for (const Row& row : table.rows) {
            widest = std::max(widest, row.name.size() + 1);
        }
    }
    const int name_width = static_cast<int>(widest);
    for (const Table& table : tables) {
        out << '\n' << table.title << '\n' << std::setw(name_width) << "";
        for (const char* column : {"median", "min", "max"}) {
            out << std::right << std::setw(value_width) << column;
        }
        out << '\n';
        for (const Row& row : table.rows) {
            print_row(out, row, name_width);
        }
    }
}

void print_json(std::ostream& out, const Report& report) {
    auto tables = ordered_json::array();
    for (const Table& table : report.tables) {
        auto rows = ordered_json::array();
        for (const Row& row : table.rows) {
            rows.push_back(json_of(row));
        }
        tables.push_back({{"title", table.title}, {"rows", std::move(rows)}});
    }
    const ordered_json json = {{"command", report.command},
                               {"surroundings", json_of(surroundings())},
                               {"parameters", json_of(report.parameters)},
                               {"tables", std::move(tables)}};
    out << json.dump(2, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace telegate::perf
