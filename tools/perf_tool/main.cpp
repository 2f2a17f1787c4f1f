#include "command.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <optional>
#include <span>

namespace {

using namespace telegate::perf;

// The first is the default.
constexpr auto commands = std::to_array<Command>({
    {"queue", "Samples through a queue between threads, compared with other queues", describe_queue_command},
    {"codec", "Encoding of samples as json, cbor and record, compared with nlohmann/json", describe_codec_command},
    {"monitor", "Messages between sockets of one thread, with and without a monitor", describe_monitor_command},
    {"transport", "Messages between two sockets, compared with libzmq and raw sockets", describe_transport_command},
    {"fanout", "One publisher and many subscribers, compared with libzmq and raw sockets", describe_fanout_command},
    {"pipeline", "The whole sample path, from a device to subscribers over tcp", describe_pipeline_command},
    {"footprint", "Memory, CPU time, wake-ups and allocations of gateway_app", describe_footprint_command},
    {"log", "The durable log, compared with SQLite and with plain rows", describe_log_command},
    {"latency", "Round trips of single messages, compared with libzmq and raw sockets", describe_latency_command},
    {"uplink", "Delivery of the log by uplinks, compared with a plain program", describe_uplink_command},
});

// From sysexits.h.
constexpr int exit_usage = 64;
constexpr int exit_wrong_result = 70;
constexpr int exit_interrupted = 130;  // as of a shell

/// Returns the options of a command with their values.
Facts parameters_of(const CLI::App& command, std::size_t runs) {
    Facts parameters{{"runs", std::to_string(runs)}};
    for (const CLI::Option* const option : command.get_options()) {
        if (option != command.get_help_ptr()) {
            std::string value = option->count() > 0 ? CLI::detail::join(option->results()) : option->get_default_str();
            parameters.emplace_back(option->get_single_name(), std::move(value));
        }
    }
    return parameters;
}

/// Writes the report as text to stdout, each table when it is complete, or as JSON to stdout, or both if the JSON goes
/// to a file. Returns the exit code. Throws std::runtime_error if a result is wrong or the file cannot be written.
int run(const Planner& planner, std::size_t runs, Report& report, const std::optional<std::string>& json_path) {
    std::ofstream file;
    const bool has_file = json_path && !json_path->empty();
    if (has_file) {
        file.open(*json_path);
    }
    if (!file) {
        throw std::runtime_error("cannot write " + *json_path);
    }
    const Plan plan = planner(report);
    Steps steps(std::cerr, ::isatty(STDERR_FILENO) == 1, steps_in(plan, runs));
    std::size_t printed = 0;  // tables
    const auto print = [&] {
        if (json_path && !has_file) {
            return;
        }
        if (printed == 0) {
            print_head(std::cout, report);
        }
        print_tables(std::cout, std::span(report.tables).subspan(printed));
        std::cout.flush();
        printed = report.tables.size();
    };
    int exit_code = EXIT_SUCCESS;
    try {
        measure(plan, runs, steps, print);
    } catch (const Interrupted& interrupted) {
        std::cerr << "perf_tool: " << interrupted.what() << '\n';
        exit_code = exit_interrupted;
    }
    if (json_path) {
        print_json(has_file ? file : std::cout, report);
    }
    if (has_file && !file.flush()) {
        throw std::runtime_error("cannot write all of " + *json_path);
    }
    return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Measures Telegate. Compare only figures from the same machine, if possible from the same run.");
    app.name("perf_tool");
    app.option_defaults()->always_capture_default();
    std::size_t runs = 5;
    std::string json_path;
    app.add_option("--runs", runs, "Number of runs; each measures all engines in turn")->check(CLI::Range(1, 1'000));
    const auto* const json = app.add_option("--json", json_path, "Write JSON to a file, or to stdout")->expected(0, 1);
    app.require_subcommand(0, 1);

    std::vector<Planner> planners;
    for (const Command& command : commands) {
        CLI::App* const options = app.add_subcommand(command.name, command.summary);
        options->fallthrough();
        planners.push_back(command.describe(*options));
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == EXIT_SUCCESS ? EXIT_SUCCESS : exit_usage;
    }

    std::size_t chosen = 0;
    for (std::size_t index = 0; index < commands.size(); ++index) {
        chosen = app.got_subcommand(commands[index].name) ? index : chosen;
    }
    block_interrupts();
    try {
        Report report{commands[chosen].name, parameters_of(*app.get_subcommand(commands[chosen].name), runs)};
        return run(planners[chosen], runs, report, json->count() > 0 ? std::optional(json_path) : std::nullopt);
    } catch (const std::exception& error) {
        std::cerr << "perf_tool: " << error.what() << '\n';
        return exit_wrong_result;
    }
}
