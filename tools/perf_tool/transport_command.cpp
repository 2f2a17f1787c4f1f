#include "command.hpp"
#include "transport/selection.hpp"

#include <iostream>
#include <iterator>
#include <stdexcept>

/// The commands transport and fanout.
namespace telegate::perf {

namespace {

[[nodiscard]] std::string about_libzmq(const Selection& selection) {
    const std::string version = libzmq_version();
    if (version.empty()) {
        return "not measured: not found when perf_tool was built";
    }
    return contains(selection.engines, "libzmq") ? version : "not measured: not requested";
}

/// Returns the requested engines that are available.
[[nodiscard]] std::vector<Engine> engines_of(const Selection& selection) {
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
    add(raw_engines());
    if (engines.empty()) {
        throw std::runtime_error("no engine to measure: libzmq is " + about_libzmq(selection));
    }
    return engines;
}

/// Reports each cell on stderr.
Matrix measure(const Selection& selection, std::size_t runs) {
    Matrix matrix{selection.is_fanout ? "fanout" : "transport", "messages per second"};
    matrix.cells = cells_of(selection);
    matrix.parameters = {{"libzmq", about_libzmq(selection)}};
    std::size_t shown = matrix.cells.size();
    const MeasurePlan plan{engines_of(selection), runs, selection.seconds};
    measure_cells(matrix.cells, plan, [&](std::size_t index, std::size_t /*run*/, const Engine& /*engine*/) {
        if (index != std::exchange(shown, index)) {
            const Cell& cell = matrix.cells[index];
            std::cerr << '[' << index + 1 << '/' << matrix.cells.size() << "] " << cell.group << ", " << cell.name
                      << '\n';
        }
    });
    return matrix;
}

}  // namespace

Command::Action describe_transport_command(CLI::App& app) {
    return make_action<Selection>(app, add_options, measure, Selection(false));
}

Command::Action describe_fanout_command(CLI::App& app) {
    return make_action<Selection>(app, add_options, measure, Selection(true));
}

}  // namespace telegate::perf
