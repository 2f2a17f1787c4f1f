#pragma once

#include "results.hpp"

namespace telegate::perf {

struct MeasurePlan {
    std::vector<Engine> engines;
    std::size_t runs = 5;
    double seconds = 2;  // per run, for cells without a number of messages
};

/// Called before each run, and before the trial of each engine.
using Progress = std::function<void(std::size_t cell, std::size_t run, const Engine& engine)>;

/// Fills the cells: each run measures all engines that support the cell, in turn. Throws std::runtime_error with the
/// names of the engine and the cell if a result is wrong.
void measure_cells(std::vector<Cell>& cells, const MeasurePlan& plan, const Progress& progress);

/// Returns the number of messages that takes an engine about `seconds`, or fewer if it cannot send as many.
struct Amount {
    std::uint64_t messages = 0;
    bool is_cut = false;
};
[[nodiscard]] Amount messages_in(double seconds, const Engine& engine, Workload work);

}  // namespace telegate::perf
