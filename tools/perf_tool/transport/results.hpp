#pragma once

#include "workload.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace telegate::perf {

/// One engine in one cell: a value per run, the same run at the same place everywhere.
struct Series {
    std::string engine;
    std::string variant;
    std::vector<double> rates;   // in the matrix's unit; fan-out: delivered in all, or published with many topics
    std::vector<double> cpu_ns;  // of all threads, per message of that rate
    std::vector<double> sender_cpu_ns;
    std::vector<double> publisher_cpu_ns;
    bool is_cut = false;  // its runs were shorter than the others', since it cannot send as many
};

/// One workload, measured by all engines in turn.
struct Cell {
    std::string group;  // "PUB/SUB tcp": one row of the summary
    std::string name;   // "64 B": its column
    Workload work;
    std::vector<Series> series;  // libzmq as reported comes before its other variants
};

/// What one command measured.
struct Matrix {
    std::string command;
    std::string unit;  // of the rates
    std::vector<std::pair<std::string, std::string>> parameters;
    std::vector<Cell> cells;
    bool lower_is_better = false;  // the rates are times, and raw is the floor
};

[[nodiscard]] inline bool is_sealed(const Matrix& matrix) {
    return std::ranges::any_of(matrix.cells, [](const Cell& cell) { return cell.work.curve; });
}
[[nodiscard]] inline bool is_fan_out(const Matrix& matrix) {
    return std::ranges::any_of(matrix.cells, [](const Cell& cell) { return cell.work.receivers > 1; });
}

}  // namespace telegate::perf
