#pragma once

#include "report.hpp"
#include "transport/results.hpp"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <functional>
#include <variant>

namespace telegate::perf {

/// What every command understands.
struct CommonOptions {
    std::size_t runs = 5;  // each measures all engines once, one after the other
};

/// One thing to measure. `describe` adds the command's own options to its part of the command line and returns what
/// runs it; that throws std::runtime_error when a result is wrong, since a wrong result has no speed.
struct Command {
    using Result = std::variant<Report, Matrix>;
    using Action = std::function<Result(const CommonOptions&)>;

    const char* name;
    const char* summary;
    Action (*describe)(CLI::App& options);
};

[[nodiscard]] Command::Action describe_codec_command(CLI::App& options);
[[nodiscard]] Command::Action describe_devices_command(CLI::App& options);
[[nodiscard]] Command::Action describe_fanout_command(CLI::App& options);
[[nodiscard]] Command::Action describe_footprint_command(CLI::App& options);
[[nodiscard]] Command::Action describe_monitor_command(CLI::App& options);
[[nodiscard]] Command::Action describe_pipeline_command(CLI::App& options);
[[nodiscard]] Command::Action describe_processing_command(CLI::App& options);
[[nodiscard]] Command::Action describe_queue_command(CLI::App& options);
[[nodiscard]] Command::Action describe_rest_command(CLI::App& options);
[[nodiscard]] Command::Action describe_sampler_command(CLI::App& options);
[[nodiscard]] Command::Action describe_stalled_command(CLI::App& options);
[[nodiscard]] Command::Action describe_subscriptions_command(CLI::App& options);
[[nodiscard]] Command::Action describe_transport_command(CLI::App& options);

}  // namespace telegate::perf
