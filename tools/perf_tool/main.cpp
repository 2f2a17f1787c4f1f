#include "command.hpp"

#include <unistd.h>

#include <array>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <span>
#include <stdexcept>

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
#ifdef TELEGATE_LIBNATS
    {"uplink", "Delivery of the log to NATS JetStream, compared with a plain libnats program", describe_uplink_command},
#endif
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

/// Writes the result as text to stdout, each table when it is complete, or as JSON to stdout, or both if the JSON goes
/// to a file. The file is opened before the measurement.
/// Threads: one. Limits: none. Failure: throws std::runtime_error if the file cannot be written.
class Output {
  public:
    Output(bool as_json, const std::string& path, Facts parameters)
        : as_json_(as_json), path_(path), parameters_(std::move(parameters)) {
        if (!path.empty()) {
            file_.open(path);
            if (!file_) {
                throw std::runtime_error("cannot write " + path);
            }
        }
    }

    Command::Result result;

    /// Prints the tables of cells that are complete.
    void print_cells(std::size_t complete) {
        if (as_json_ && path_.empty()) {
            return;
        }
        auto& matrix = std::get<Matrix>(result);
        add_parameters(matrix);
        if (printed_ == 0) {
            print_head(std::cout, matrix.command, matrix.parameters);
        }
        print_tables(std::cout, matrix, std::span(matrix.cells).subspan(printed_, complete - printed_));
        std::cout.flush();
        printed_ = complete;
    }
    /// Prints everything that was not printed yet.
    void finish() {
        std::visit([this](auto& each) { add_parameters(each); }, result);
        if (as_json_) {
            std::ostream& out = path_.empty() ? std::cout : file_;
            std::visit([&out](const auto& each) { print_json(out, each); }, result);
            file_.close();
            if (!path_.empty() && !file_) {
                throw std::runtime_error("cannot write all of " + path_);
            }
        }
        if (const auto* const matrix = std::get_if<Matrix>(&result)) {
            print_cells(matrix->cells.size());
        } else if (!as_json_ || !path_.empty()) {
            print_text(std::cout, std::get<Report>(result));
        }
    }

  private:
    template <class Each>
    void add_parameters(Each& each) {
        each.parameters.insert(each.parameters.begin(), parameters_.begin(), parameters_.end());
        parameters_.clear();
    }

    const bool as_json_;
    const std::string path_;
    Facts parameters_;  // until they are in the result
    std::ofstream file_;
    std::size_t printed_ = 0;  // cells
};

/// Returns the exit code.
int run(const Command::Action& action, std::size_t runs, Output& output) {
    Steps steps(runs, {std::cerr, ::isatty(STDERR_FILENO) == 1},
                [&output](std::size_t complete) { output.print_cells(complete); });
    int exit_code = EXIT_SUCCESS;
    try {
        action(steps, output.result);
    } catch (const std::exception& error) {
        // Child processes get an interrupt of the terminal, too, so their end may be noticed first.
        if (dynamic_cast<const Interrupted*>(&error) == nullptr && !is_interrupted()) {
            throw;
        }
        exit_code = exit_interrupted;
    }
    steps.clear();
    output.finish();
    if (exit_code == exit_interrupted) {
        std::cerr << "perf_tool: " << Interrupted().what() << '\n';
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

    std::vector<Command::Action> actions;
    for (const Command& command : commands) {
        CLI::App* const options = app.add_subcommand(command.name, command.summary);
        options->fallthrough();
        actions.push_back(command.describe(*options));
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
        Output output(json->count() > 0, json_path, parameters_of(*app.get_subcommand(commands[chosen].name), runs));
        return run(actions[chosen], runs, output);
    } catch (const std::exception& error) {
        std::cerr << "perf_tool: " << error.what() << '\n';
        return exit_wrong_result;
    }
}
