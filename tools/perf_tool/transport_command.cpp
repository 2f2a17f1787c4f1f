#include "command.hpp"
#include "transport/measure.hpp"
#include "transport/selection.hpp"

#include <iostream>
#include <iterator>
#include <memory>
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
    add(raw_engines(raw_trial_of(selection)));
    if (engines.empty()) {
        throw std::runtime_error("no engine to measure: libzmq is " + about_libzmq(selection));
    }
    return engines;
}

/// Fills the cells and adds the common parameters. Reports each cell on stderr.
[[nodiscard]] Matrix measure_matrix(Matrix matrix, const Selection& selection, std::size_t runs) {
    matrix.cells = cells_of(selection);
    matrix.parameters.emplace_back("mechanism", selection.curve ? "CURVE" : "NULL");
    matrix.parameters.emplace_back("libzmq", about_libzmq(selection));
    matrix.parameters.emplace_back("runs", std::to_string(runs) + ", each with all engines in turn");
    matrix.parameters.emplace_back(
        "messages", selection.messages.empty()
                        ? "as many as keep an engine busy for " + text_of(selection.seconds) + " s, found by a trial"
                        : selection.messages);
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

Command::Action describe_transport_command(CLI::App& options) {
    const auto chosen = std::make_shared<Selection>(false);
    add_options(options, *chosen);
    return [chosen](std::size_t runs) {
        Matrix matrix{"transport", "messages per second"};
        matrix.parameters = {
            {"work", "one sender, one receiver, one call per message, nothing lost"},
            {"threads", chosen->two_processes ? "one in each of two processes" : "one for each side, in one process"}};
        return measure_matrix(std::move(matrix), *chosen, runs);
    };
}

Command::Action describe_fanout_command(CLI::App& options) {
    const auto chosen = std::make_shared<Selection>(true);
    add_options(options, *chosen);
    return [chosen](std::size_t runs) {
        Matrix matrix{"fanout", "messages per second"};
        std::string sizes;
        for (const std::size_t size : chosen->sizes) {
            sizes += (sizes.empty() ? "" : ", ") + size_name(size);
        }
        matrix.parameters = {{"work", "one publisher, a thread for each subscriber, nothing lost"},
                             {"counted", "one topic: delivered to all subscribers; several topics: published"},
                             {"payload", sizes}};
        return measure_matrix(std::move(matrix), *chosen, runs);
    };
}

}  // namespace telegate::perf
