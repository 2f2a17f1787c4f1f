#include "command.hpp"

#include <array>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iostream>
#include <stdexcept>

namespace {

using namespace telegate::perf;

// The first is the default.
constexpr auto commands = std::to_array<Command>({
    {"queue", "Samples through a queue between threads, compared with other queues", describe_queue_command},
    {"codec", "Encoding of samples as json, cbor and record, compared with nlohmann/json", describe_codec_command},
    {"processing", "Readings through scale, range, deadband and the other stages", describe_processing_command},
    {"sampler", "Lateness of the sampling thread, compared with a minimal loop", describe_sampler_command},
    {"subscriptions", "Time and memory of the index of a million subscriptions", describe_subscriptions_command},
    {"monitor", "Messages between sockets of one thread, with and without a monitor", describe_monitor_command},
    {"transport", "Messages between two sockets, compared with libzmq and raw sockets", describe_transport_command},
    {"fanout", "One publisher and many subscribers, compared with libzmq and raw sockets", describe_fanout_command},
    {"pipeline", "The whole sample path, from a device to subscribers over tcp", describe_pipeline_command},
    {"stalled", "The whole sample path, with subscribers that never read", describe_stalled_command},
    {"footprint", "Memory, CPU time, wake-ups and allocations of gateway_app", describe_footprint_command},
    {"devices", "gateway_app with many devices, with and without devices that hang", describe_devices_command},
    {"rest", "GET /status, compared with a minimal cpp-httplib server", describe_rest_command},
    {"log", "The durable log, compared with SQLite and with plain rows", describe_log_command},
    {"latency", "Round trips of single messages, compared with libzmq and raw sockets", describe_latency_command},
#ifdef TELEGATE_LIBNATS
    {"uplink", "Delivery of the log to NATS JetStream, compared with a plain libnats program", describe_uplink_command},
#endif
});

// From sysexits.h.
constexpr int exit_usage = 64;
constexpr int exit_wrong_result = 70;

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

/// Writes the result as text to stdout, or as JSON to stdout, or both if the JSON goes to a file. The file is opened
/// before the measurement.
void run(const std::function<Command::Result()>& measure, bool as_json, const std::string& path) {
    std::ofstream file;
    if (!path.empty()) {
        file.open(path);
        if (!file) {
            throw std::runtime_error("cannot write " + path);
        }
    }
    const Command::Result result = measure();
    if (as_json) {
        std::ostream& out = path.empty() ? std::cout : file;
        std::visit([&out](const auto& each) { print_json(out, each); }, result);
        file.close();
        if (!path.empty() && !file) {
            throw std::runtime_error("cannot write all of " + path);
        }
    }
    if (!as_json || !path.empty()) {
        std::visit([](const auto& each) { print_text(std::cout, each); }, result);
    }
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
    const auto measure = [&] {
        Command::Result result = actions[chosen](runs);
        const Facts options = parameters_of(*app.get_subcommand(commands[chosen].name), runs);
        std::visit([&](auto& each) { each.parameters.insert(each.parameters.begin(), options.begin(), options.end()); },
                   result);
        return result;
    };
    try {
        run(measure, json->count() > 0, json_path);
    } catch (const std::exception& error) {
        std::cerr << "perf_tool: " << error.what() << '\n';
        return exit_wrong_result;
    }
    return EXIT_SUCCESS;
}
