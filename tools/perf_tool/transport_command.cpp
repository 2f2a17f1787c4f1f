#include "command.hpp"
#include "transport/harness.hpp"
#include "transport/selection.hpp"

#include <iterator>
#include <stdexcept>

/// The commands transport and fanout.
namespace telegate::perf {

namespace {

constexpr std::uint64_t messages_max = 10'000'000'000;
constexpr std::string_view original = "original";

void add_common_options(CLI::App& app, Selection& selection) {
    add_list(app, "--size", selection.sizes, "Payload sizes in bytes, separated by commas")
        ->check(CLI::Range(16, 4 * 1024 * 1024));
    add_list(app, "--transport", selection.transports, "Transports, separated by commas")
        ->check(CLI::IsMember({"tcp", "ipc", "inproc"}));
    add_list(app, "--engine", selection.engines, "Engines, separated by commas")
        ->check(CLI::IsMember({"telegate", "libzmq", "raw"}));
    app.add_option("--variants", selection.variants,
                   "Variants of libzmq and raw: all, or only that of ServerLink's reports and one of raw")
        ->check(CLI::IsMember({"all", "reported"}));
    auto* const seconds = app.add_option("--seconds", selection.seconds, "Approximate seconds per engine and run")
                              ->check(CLI::Range(0.001, 600.0));
    app.add_option("--messages", selection.messages,
                   "Messages per engine and run, or \"original\"; overrides --seconds")
        ->check(number_or(original, messages_max))
        ->excludes(seconds);
    app.add_flag("--curve", selection.curve, "Encrypt; the defaults are then 64 B and 8 KiB over tcp");
    app.callback([&app, &selection] {
        if (!selection.curve) {
            return;
        }
        if (app.count("--size") == 0) {
            selection.sizes = {64, 8 * 1024};
            app.get_option("--size")->default_str("[64,8192]");
        }
        if (app.count("--transport") == 0) {
            selection.transports = {"tcp"};
            app.get_option("--transport")->default_str("[tcp]");
        } else if (contains(selection.transports, "inproc")) {
            throw CLI::ValidationError("--transport", "inproc does not support CURVE");
        }
        if (app.count("--engine") > 0 && contains(selection.engines, "raw")) {
            throw CLI::ValidationError("--engine", "raw does not support CURVE");
        }
        std::erase(selection.engines, "raw");
    });
}

[[nodiscard]] std::uint64_t messages_of(const Selection& selection, std::size_t size) {
    if (selection.messages != original) {
        return number_in(selection.messages);
    }
    switch (size) {  // as in ServerLink's reports
        case 64: return 100'000;
        case 1024: return 50'000;
        case 8 * 1024: return 10'000;
        case 64 * 1024: return 1'000;
        default: throw std::runtime_error("no original number of messages for " + size_name(size));
    }
}

[[nodiscard]] std::string group_of(const Selection& selection, const Workload& work) {
    std::string group = selection.is_fanout               ? "fan-out "
                        : work.pattern == Pattern::pubsub ? "PUB/SUB "
                                                          : "ROUTER-ROUTER ";
    group += to_string(work.transport);
    group += selection.curve ? ", CURVE" : "";
    group += selection.is_fanout && selection.sizes.size() > 1 ? ", " + size_name(work.size) : "";
    group += work.topics == 1 ? "" : ", " + std::to_string(work.topics) + " topics";
    return group;
}

void add_cells(std::vector<Cell>& cells, const Selection& selection, Workload work) {
    for (const std::string& transport : selection.transports) {
        work.transport = transport_of(transport);
        for (const std::size_t size : selection.sizes) {
            work.size = size;
            work.messages = messages_of(selection, size);
            for (const std::size_t count : selection.subscribers) {
                work.receivers = count;
                const std::string name = std::to_string(count) + (count == 1 ? " subscriber" : " subscribers");
                cells.push_back({group_of(selection, work), selection.is_fanout ? name : size_name(size), work});
            }
        }
    }
}

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
    std::vector<Engine> raw = raw_engines();
    if (selection.variants == "reported") {
        libzmq.resize(std::min<std::size_t>(libzmq.size(), 1));
        std::erase_if(raw, [](const Engine& engine) { return !is_usual(engine); });
    }
    add(telegate_engines(selection.io_threads));
    add(std::move(libzmq));
    add(std::move(raw));
    if (engines.empty()) {
        throw std::runtime_error("no engine to measure: libzmq is " + about_libzmq(selection));
    }
    return engines;
}

void measure(const Selection& selection, Steps& steps, Matrix& matrix) {
    matrix = {selection.is_fanout ? "fanout" : "transport", "messages per second"};
    matrix.cells = cells_of(selection);
    matrix.parameters = {{"libzmq", about_libzmq(selection)}};
    const MeasurePlan plan{engines_of(selection), selection.seconds};
    steps.expect(matrix.cells.size() * (steps.runs() + 1));
    for (std::size_t index = 0; index < matrix.cells.size(); ++index) {
        measure_cell(matrix.cells[index], plan, steps);
        if (index + 1 == matrix.cells.size() || matrix.cells[index + 1].group != matrix.cells[index].group) {
            steps.tables(index + 1);
        }
    }
}

}  // namespace

void add_options(CLI::App& app, Selection& selection) {
    if (selection.is_fanout) {
        add_list(app, "--subscribers", selection.subscribers, "Numbers of subscribers, separated by commas")
            ->check(CLI::Range(std::size_t{1}, Board::receivers_max));
        add_list(app, "--topics", selection.topics,
                 "Numbers of topics, separated by commas; with more than one, each subscriber has a different topic")
            ->check(CLI::Range(1, 1'000'000));
        add_list(app, "--io-threads", selection.io_threads,
                 "Numbers of I/O threads of Telegate's publisher, separated by commas")
            ->check(CLI::Range(1, 64));
    } else {
        add_list(app, "--pattern", selection.patterns, "Publisher to Subscriber, Router to Router, separated by commas")
            ->check(CLI::IsMember({"pubsub", "router"}));
        app.add_flag("--two-processes", selection.two_processes, "The receiver is a process; not over inproc");
    }
    add_common_options(app, selection);
}

std::vector<Cell> cells_of(const Selection& selection) {
    std::vector<Cell> cells;
    Workload work;
    work.two_processes = selection.two_processes;
    work.curve = selection.curve;
    for (const std::string& pattern : selection.patterns) {
        work.pattern = pattern == "pubsub" ? Pattern::pubsub : Pattern::router;
        for (const std::size_t topics : selection.topics) {
            work.topics = topics;
            add_cells(cells, selection, work);
        }
    }
    std::erase_if(cells, [](const Cell& cell) { return !is_possible(cell.work); });
    return cells;
}

Command::Action describe_transport_command(CLI::App& app) {
    return make_action<Selection>(app, add_options, measure, Selection(false));
}

Command::Action describe_fanout_command(CLI::App& app) {
    return make_action<Selection>(app, add_options, measure, Selection(true));
}

}  // namespace telegate::perf
