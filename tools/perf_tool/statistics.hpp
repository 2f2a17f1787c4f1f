#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace telegate::perf {

/// The middle of some measurements and how far they lie apart.
struct Spread {
    double median;
    double min;
    double max;
};

/// `values` holds at least one.
[[nodiscard]] Spread spread_of(std::vector<double> values);

/// What a figure should be, where somebody has said so.
struct Goal {
    enum class Kind { none, at_most, at_least };
    Kind kind = Kind::none;
    double value = 0;

    [[nodiscard]] static Goal at_most(double value) { return {Kind::at_most, value}; }
    [[nodiscard]] static Goal at_least(double value) { return {Kind::at_least, value}; }
    [[nodiscard]] bool met_by(double figure) const noexcept {
        return kind == Kind::none || (kind == Kind::at_most ? figure <= value : figure >= value);
    }
};

/// One engine in one mode: a value per run.
struct Row {
    std::string name;
    std::vector<double> values;
    Goal goal{};  // of the median
};

/// The least of the values that `share` (0 to 1) of all are not above. There is at least one; they are put out of
/// order.
template <class Value>
[[nodiscard]] Value quantile(std::vector<Value>& values, double share) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
    const auto place = values.begin() + static_cast<std::ptrdiff_t>(std::max(rank, std::size_t{1}) - 1);
    std::nth_element(values.begin(), place, values.end());
    return *place;
}

/// Two rows compared: each run of one over the same run of the other, so that a noisy minute touches both.
[[nodiscard]] Row ratio(std::string name, const Row& over, const Row& under);

}  // namespace telegate::perf
