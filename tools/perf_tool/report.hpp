#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iosfwd>
#include <span>
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

/// Figures with the unit in the title.
struct Table {
    std::string title;
    std::vector<Row> rows{};
};

/// The result of a command. It is printed with the machine, the build and the compiler.
struct Report {
    std::string command;
    Facts parameters{};
    std::vector<Table> tables{};

    /// Appends the value of one run to a row of a table. Adds the row and the table if they do not exist.
    void add(const std::string& table, const std::string& row, double value, const Goal& goal = {});
    /// Returns null if the row was not measured.
    [[nodiscard]] const Row* find(std::string_view table, std::string_view row) const;
    struct Ratio {
        const Row* over;
        const Row* under;
    };
    /// Adds a row that divides each run of one row by the same run of the other, so that noise affects both, if both
    /// were measured. Ignores runs of only one.
    void add_ratio(const std::string& table, const std::string& row, const Ratio& ratio, const Goal& goal = {});
};

void print_head(std::ostream& out, const Report& report);
void print_tables(std::ostream& out, std::span<const Table> tables);
/// Invalid UTF-8 is replaced.
void print_json(std::ostream& out, const Report& report);

}  // namespace telegate::perf
