#pragma once

#include "report.hpp"

#include <CLI/CLI.hpp>

#include <cstddef>
#include <functional>

namespace telegate::perf {

/// What every command understands.
struct CommonOptions {
    std::size_t runs = 5;  // each measures all engines once, one after the other
    bool json = false;
};

/// One thing to measure. `describe` adds the command's own options to its part of the command line and returns what
/// runs it; that throws std::runtime_error when a result is wrong, since a wrong result has no speed.
struct Command {
    using Action = std::function<Report(const CommonOptions&)>;

    const char* name;
    const char* summary;
    Action (*describe)(CLI::App& options);
};

[[nodiscard]] Command::Action describe_monitor_command(CLI::App& options);
[[nodiscard]] Command::Action describe_queue_command(CLI::App& options);
[[nodiscard]] Command::Action describe_subscriptions_command(CLI::App& options);

}  // namespace telegate::perf
