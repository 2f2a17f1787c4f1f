#include "matrix_command.hpp"

#include "chosen_names.hpp"
#include "measure.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>

namespace telegate::perf {

namespace {

[[nodiscard]] std::string text_of_seconds(double seconds) {
    std::ostringstream text;
    text << seconds;
    return text.str();
}

[[nodiscard]] std::string about_libzmq(const EngineSelection& selection) {
    const std::string version = libzmq_version();
    if (version.empty()) {
        return "not measured: it was not found when this was built";
    }
    return contains(selection.engines, "libzmq") ? version : "not measured: not asked for";
}

[[nodiscard]] std::string place_of(const Matrix& matrix, std::size_t index) {
    std::ostringstream text;
    text << '[' << index + 1 << '/' << matrix.cells.size() << "] " << matrix.cells[index].group << ", "
         << matrix.cells[index].name;
    return text.str();
}

}  // namespace

std::vector<Engine> engines_of(const EngineSelection& selection) {
    std::vector<Engine> engines;
    const auto add = [&](std::vector<Engine> those) {
        if (!those.empty() && contains(selection.engines, those.front().name)) {
            std::ranges::move(those, std::back_inserter(engines));
        }
    };
    const auto most = std::ranges::max_element(selection.io_threads);
    std::vector<Engine> libzmq = libzmq_engines(most == selection.io_threads.end() ? 1 : *most);
    if (selection.variants == "reported" && !libzmq.empty()) {
        libzmq.erase(libzmq.begin() + 1, libzmq.end());
    }
    add(telegate_engines(selection.io_threads));
    add(std::move(libzmq));
    add(raw_engines(raw_trial_of(selection)));
    return engines;
}

Matrix measure_matrix(Matrix matrix, const EngineSelection& selection, std::size_t runs) {
    const MeasurePlan plan{engines_of(selection), runs, selection.seconds};
    if (plan.engines.empty()) {
        throw std::runtime_error("none of the engines asked for is there; libzmq is " + about_libzmq(selection));
    }
    matrix.parameters.emplace_back("mechanism", selection.curve ? "CURVE" : "NULL");
    matrix.parameters.emplace_back("libzmq", about_libzmq(selection));
    matrix.parameters.emplace_back("runs", std::to_string(runs) + ", all engines in turn in each");
    matrix.parameters.emplace_back(
        "messages", selection.messages.empty()
                        ? "as many as take an engine " + text_of_seconds(selection.seconds) + " s, found by a trial"
                        : selection.messages);
    const bool is_terminal = ::isatty(STDERR_FILENO) == 1;
    std::size_t shown = matrix.cells.size();
    measure_cells(matrix.cells, plan, [&](std::size_t index, std::size_t run, const Engine& engine) {
        const std::string where = place_of(matrix, index);
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
