#pragma once

#include "engine.hpp"
#include "results.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace telegate::perf {

/// How often and how long.
struct MeasurePlan {
    std::vector<Engine> engines;
    std::size_t runs = 5;
    double seconds = 2;  // for cells that do not say how many messages
};

/// Hears of each run before it begins, and of each trial before the first.
using Progress = std::function<void(std::size_t cell, std::size_t run, const Engine& engine)>;

/// Fills the cells: each run measures all engines that can, once, one after the other. An engine's number of messages
/// is the cell's, or what takes it about the time of the plan. Throws std::runtime_error, naming engine and cell, when
/// a result is wrong.
void measure_cells(std::vector<Cell>& cells, const MeasurePlan& plan, const Progress& progress);

/// "libzmq (two contexts)".
[[nodiscard]] std::string name_of(const Engine& engine);

/// The messages that take `engine` about `seconds`; fewer where it cannot do as many, which is told.
struct Amount {
    std::uint64_t messages = 0;
    bool is_cut = false;
};
[[nodiscard]] Amount messages_in(double seconds, const Engine& engine, Workload work);

}  // namespace telegate::perf
