#include "matrix_command.hpp"

#include "measure.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>

namespace telegate::perf {

namespace {

[[nodiscard]] std::string text_of(double seconds) {
    std::ostringstream text;
    text << seconds;
    return text.str();
}

}  // namespace

std::vector<Engine> engines_of(const EngineSelection& selection) {
    std::vector<Engine> engines;
    for (const auto table : {telegate_engines(), libzmq_engines(), raw_engines()}) {
        const bool is_reported_only = selection.variants == "reported";
        const std::size_t count = is_reported_only ? std::min<std::size_t>(table.size(), 1) : table.size();
        for (const Engine& engine : table.first(count)) {
            if (std::ranges::find(selection.engines, engine.name) != selection.engines.end()) {
                engines.push_back(engine);
            }
        }
    }
    return engines;
}

Matrix measure_matrix(Matrix matrix, const EngineSelection& selection, std::size_t runs) {
    const Plan plan{engines_of(selection), runs, selection.seconds};
    const std::string version = libzmq_version();
    matrix.parameters.emplace_back("libzmq", version.empty() ? "not found when this was built" : version);
    matrix.parameters.emplace_back("runs", std::to_string(runs) + ", all engines in turn in each");
    matrix.parameters.emplace_back(
        "messages", selection.messages.empty()
                        ? "as many as take an engine " + text_of(selection.seconds) + " s, found by a trial"
                        : selection.messages);
    const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
    std::size_t shown = matrix.cells.size();
    measure_cells(matrix.cells, plan, [&](std::size_t index, std::size_t run, const Engine& engine) {
        const Cell& cell = matrix.cells[index];
        const std::string where = "[" + std::to_string(index + 1) + "/" + std::to_string(matrix.cells.size()) + "] " +
                                  cell.group + ", " + cell.name;
        if (is_terminal) {
            std::cerr << "\r\x1b[K" << where << ", run " << run + 1 << " of " << runs << ", " << name_of(engine);
        } else if (index != shown) {
            std::cerr << where << '\n';
            shown = index;
        }
    });
    if (is_terminal) {
        std::cerr << "\r\x1b[K";
    }
    return matrix;
}

}  // namespace telegate::perf
