#pragma once

#include "report.hpp"
#include "transport/results.hpp"

#include <CLI/CLI.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace telegate::perf {

/// A subcommand of perf_tool. `describe` adds its options to the command line and returns the function that measures.
/// That function measures all engines once per run, in turn, and throws std::runtime_error if a result is wrong. The
/// report shows the options with their values; `parameters` of the result are additional.
struct Command {
    using Result = std::variant<Report, Matrix>;
    using Action = std::function<Result(std::size_t runs)>;

    const char* name;
    const char* summary;
    Action (*describe)(CLI::App& options);
};

/// Returns the action of a command whose options `add` adds to the command line.
template <class Options, class Result>
[[nodiscard]] Command::Action make_action(CLI::App& app, void (*add)(CLI::App& app, Options& options),
                                          Result (*measure)(const Options& options, std::size_t runs),
                                          Options defaults = {}) {
    const auto options = std::make_shared<Options>(std::move(defaults));
    add(app, *options);
    return [options, measure](std::size_t runs) {
        return measure(*options, runs);
    };
}

/// Adds an option with several values, separated by commas.
template <class Value>
CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<Value>& values, const std::string& about) {
    return app.add_option(name, values, about)->delimiter(',');
}

[[nodiscard]] Command::Action describe_codec_command(CLI::App& options);
[[nodiscard]] Command::Action describe_devices_command(CLI::App& options);
[[nodiscard]] Command::Action describe_fanout_command(CLI::App& options);
[[nodiscard]] Command::Action describe_footprint_command(CLI::App& options);
[[nodiscard]] Command::Action describe_latency_command(CLI::App& options);
[[nodiscard]] Command::Action describe_log_command(CLI::App& options);
[[nodiscard]] Command::Action describe_monitor_command(CLI::App& options);
[[nodiscard]] Command::Action describe_pipeline_command(CLI::App& options);
[[nodiscard]] Command::Action describe_processing_command(CLI::App& options);
[[nodiscard]] Command::Action describe_queue_command(CLI::App& options);
[[nodiscard]] Command::Action describe_rest_command(CLI::App& options);
[[nodiscard]] Command::Action describe_sampler_command(CLI::App& options);
[[nodiscard]] Command::Action describe_stalled_command(CLI::App& options);
[[nodiscard]] Command::Action describe_subscriptions_command(CLI::App& options);
[[nodiscard]] Command::Action describe_transport_command(CLI::App& options);
[[nodiscard]] Command::Action describe_uplink_command(CLI::App& options);

}  // namespace telegate::perf
