#pragma once

#include "report.hpp"
#include "transport/results.hpp"

#include <CLI/CLI.hpp>

namespace telegate::perf {

/// A subcommand of perf_tool. `describe` adds its options to the command line and returns the function that measures.
/// That function measures all engines once per run, in turn, and throws std::runtime_error if a result is wrong.
struct Command {
    using Result = std::variant<Report, Matrix>;
    using Action = std::function<Result(std::size_t runs)>;

    const char* name;
    const char* summary;
    Action (*describe)(CLI::App& options);
};

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
