#include "command.hpp"
#include "output.hpp"
#include "transport/latency.hpp"

#include <array>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <vector>

namespace {

using namespace telegate::perf;

Command::Action describe_latency_command(CLI::App& options) {
    const auto chosen = add_latency_options(options);
    return [chosen](const CommonOptions& common) {
        return measure_latency(*chosen, common.runs);
    };
}

// The first is what perf_tool does when no command is named.
constexpr std::array<Command, 14> commands{{
    {"queue", "Samples through the queue between two threads, beside other queues", describe_queue_command},
    {"codec", "Samples into payloads: json, cbor, record, beside nlohmann/json", describe_codec_command},
    {"processing", "Readings through scale, range, deadband and what else a channel has", describe_processing_command},
    {"sampler", "How late the sampling thread is, beside a bare loop, alone and under load", describe_sampler_command},
    {"subscriptions", "A million subscriptions: time and memory of the index", describe_subscriptions_command},
    {"monitor", "Messages between sockets of one thread, with and without a monitor", describe_monitor_command},
    {"transport", "Messages from one socket to another, beside libzmq and bare sockets", describe_transport_command},
    {"fanout", "One publisher, many subscribers, beside libzmq and bare sockets", describe_fanout_command},
    {"pipeline", "Samples through the whole line, from a device to subscribers over tcp", describe_pipeline_command},
    {"stalled", "Subscribers beside others that never read, through the whole line", describe_stalled_command},
    {"footprint", "What gateway_app takes: memory, processor, wake-ups, allocations", describe_footprint_command},
    {"devices", "gateway_app with many devices, alone and beside others that hang", describe_devices_command},
    {"rest", "GET /status, beside a bare cpp-httplib server that answers a fixed body", describe_rest_command},
    {"latency", "Round trips of single messages, beside libzmq and bare sockets", describe_latency_command},
}};

// As sysexits.h has them.
constexpr int exit_usage = 64;
constexpr int exit_wrong_result = 70;

}  // namespace

int main(int argc, char** argv) {
    CLI::App app("Measures Telegate. Figures of different machines do not compare: compare within one run.");
    app.name("perf_tool");
    CommonOptions common;
    Output output;
    app.add_option("--runs", common.runs, "Times that each engine is measured, in turn")
        ->check(CLI::Range(std::size_t{1}, std::size_t{1'000}))
        ->capture_default_str();
    output.add_options(app);
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
    try {
        output.open();
        output.write(actions[chosen](common));
    } catch (const std::exception& error) {
        std::cerr << "perf_tool: " << error.what() << '\n';
        return exit_wrong_result;
    }
    return EXIT_SUCCESS;
}
