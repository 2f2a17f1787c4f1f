#pragma once

#include <nlohmann/json_fwd.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::perf {

/// Names and values in display order.
using Facts = std::vector<std::pair<std::string, std::string>>;

/// The median and the range of some measurements.
struct Spread {
    double median;
    double min;
    double max;
};

/// Returns the spread of at least one value.
[[nodiscard]] Spread spread_of(std::vector<double> values);

/// Returns a quantile: the smallest value that is not exceeded by at least the `share` (0 to 1) of `values`, which must
/// not be empty. Reorders `values`.
template <class Value>
[[nodiscard]] Value quantile(std::vector<Value>& values, double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(std::max(rank, std::size_t{1}) - 1);
    std::nth_element(values.begin(), place, values.end());
    return *place;
}

/// The goal for a figure, if there is one.
struct Goal {
    const char* kind = nullptr;  // "at_most", "at_least"
    double value = 0;

    [[nodiscard]] static Goal at_most(double value) { return {"at_most", value}; }
    [[nodiscard]] static Goal at_least(double value) { return {"at_least", value}; }
    [[nodiscard]] bool met_by(double figure) const {
        return std::string_view(kind) == "at_most" ? figure <= value : figure >= value;
    }
};

/// A figure with one value per run.
struct Row {
    std::string name;
    std::vector<double> values{};
    Goal goal{};  // for the median
};

/// Divides each run of one row by the same run of the other, so that noise affects both. Ignores runs of only one.
[[nodiscard]] Row ratio(std::string name, const Row& over, const Row& under);

/// Returns the row with this name; null if there is none, because it was not measured.
[[nodiscard]] const Row* find_row(const std::vector<Row>& rows, std::string_view name);

/// Rows with a unit of their own.
struct Section {
    std::string title;
    std::string unit;
    std::vector<Row> rows{};

    /// Appends the value of one run to the row with this name, which the first run adds.
    void add(const std::string& name, double value, const Goal& goal = {});
};

/// The result of a command. It is printed with the machine, the build and the compiler.
struct Report {
    std::string command;
    std::string unit;  // of rows
    Facts parameters{};
    std::vector<Row> rows{};
    std::vector<Row> ratios{};
    std::vector<Section> sections{};
    std::string ratios_heading = "speed-up, run by run";

    /// As Section::add(), for the rows of the report.
    void add(const std::string& name, double value, const Goal& goal = {});
    /// Returns the section with this title, which the first call adds.
    Section& section(const std::string& title, const std::string& unit_of_rows);
    /// Adds the ratio of two rows if both were measured.
    void add_ratio(std::string name, const Row* over, const Row* under, const Goal& goal = {});
    /// The same for two rows of the report.
    void add_ratio(std::string name, const std::string& over, const std::string& under, const Goal& goal = {});
};

void print_text(std::ostream& out, const Report& report);
/// The same without the name of the command, the surroundings and the parameters.
void print_tables(std::ostream& out, const Report& report);
void print_json(std::ostream& out, const Report& report);

/// Returns the machine, the build and the compiler.
[[nodiscard]] Facts surroundings();
/// Prints the name of a command, its surroundings and its parameters.
void print_head(std::ostream& out, const std::string& command, const Facts& parameters);
[[nodiscard]] nlohmann::ordered_json json_of(const Facts& facts);
/// Prints indented JSON; invalid UTF-8 is replaced.
void print_document(std::ostream& out, const nlohmann::ordered_json& json);

/// Returns a number without trailing zeros.
[[nodiscard]] std::string text_of(double number);

}  // namespace telegate::perf
