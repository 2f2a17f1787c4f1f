#pragma once

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

/// One engine in one mode: a value per run.
struct Row {
    std::string name;
    std::vector<double> values;
};

/// Two rows compared: each run of one over the same run of the other, so that a noisy minute touches both.
[[nodiscard]] Row ratio(std::string name, const Row& over, const Row& under);

}  // namespace telegate::perf
