#pragma once

#include "report.hpp"
#include "steps.hpp"
#include "workload.hpp"

#include <span>

namespace telegate::perf {

/// An engine in a cell: one value per run.
struct Series {
    std::string engine;
    std::string variant{};
    std::vector<double>
        rates{};  // in the unit of the matrix; fan-out: delivered, or published if there are many topics
    std::vector<double> cpu_ns{};  // of all threads, per message of that rate
    std::vector<double> publisher_cpu_ns{};
    bool is_cut = false;  // its runs were shorter, because it cannot send as many messages
};

/// A workload, measured with all engines in turn.
struct Cell {
    std::string group;  // "PUB/SUB tcp"
    std::string name;   // "64 B"
    Workload work{};
    std::vector<Series> series{};  // the first series of libzmq has the reported configuration
};

/// The result of transport, fanout or latency.
struct Matrix {
    std::string command;
    std::string unit;  // of the rates
    Facts parameters{};
    std::vector<Cell> cells{};
    bool lower_is_better = false;  // the rates are times
};

/// Telegate compared with the other engines in a cell. Pointers are null, and comparisons empty, for engines that were
/// not measured. Comparisons have one value per run.
struct Standing {
    const Series* telegate = nullptr;
    const Series* libzmq = nullptr;       // as reported
    const Series* libzmq_best = nullptr;  // the variant with the best median in this cell
    const Series* raw = nullptr;

    std::vector<double> over_libzmq;  // above 1, Telegate is better
    std::vector<double> over_libzmq_best;
    std::vector<double> of_raw;  // Telegate divided by raw
};

/// Returns one standing per series of Telegate, or one standing if Telegate was not measured.
[[nodiscard]] std::vector<Standing> standings_in(const Cell& cell, bool lower_is_better);

/// Prints the machine, the build, the parameters, and tables of the rates, CPU times and ratios of each group of cells.
void print_text(std::ostream& out, const Matrix& matrix);
/// Prints only the tables of these cells.
void print_tables(std::ostream& out, const Matrix& matrix, std::span<const Cell> cells);
/// Prints everything, including all runs.
void print_json(std::ostream& out, const Matrix& matrix);

struct MeasurePlan {
    std::vector<Engine> engines;
    double seconds = 2;  // per run, for cells without a number of messages
};

/// Fills a cell: each run measures all engines that support it, in turn. Throws std::runtime_error with the names of
/// the engine and the cell if a result is wrong. Takes one of the `steps`, and one more per run.
void measure_cell(Cell& cell, const MeasurePlan& plan, Steps& steps);

/// Returns the number of messages that takes an engine about `seconds`, or fewer if it cannot send as many.
struct Amount {
    std::uint64_t messages = 0;
    bool is_cut = false;
};
[[nodiscard]] Amount messages_in(double seconds, const Engine& engine, Workload work);

}  // namespace telegate::perf
