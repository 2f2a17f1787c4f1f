#pragma once

#include "bench.hpp"
#include "report.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace telegate::perf {

/// Returns what is measured; the engines add their figures to the report, which outlives them.
using Planner = std::function<Plan(Report& report)>;

/// A subcommand of perf_tool. `describe` adds its options to the command line. The report shows the options with their
/// values; `parameters` that the planner adds are additional.
struct Command {
    const char* name;
    const char* summary;
    Planner (*describe)(CLI::App& options);
};

/// Returns the planner of a command whose options `add` adds to the command line.
template <class Options>
[[nodiscard]] Planner make_planner(CLI::App& app, void (*add)(CLI::App& app, Options& options),
                                   Plan (*plan)(const Options& options, Report& report), Options defaults = {}) {
    const auto options = std::make_shared<Options>(std::move(defaults));
    add(app, *options);
    return [options, plan](Report& report) {
        return plan(*options, report);
    };
}

/// Adds an option with several values, separated by commas.
template <class Value>
CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<Value>& values, const std::string& about) {
    return app.add_option(name, values, about)->delimiter(',');
}

[[nodiscard]] inline bool contains(const std::vector<std::string>& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

/// Returns the number that is the whole text; 0 if there is none.
[[nodiscard]] inline std::uint64_t number_in(std::string_view text) noexcept {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

/// Accepts a number from 1 to `most`, or a word.
[[nodiscard]] inline CLI::Validator number_or(std::string_view word, std::uint64_t most) {
    return {[word, most](const std::string& text) {
                const std::uint64_t number = number_in(text);
                return text == word || (number > 0 && number <= most)
                           ? std::string()
                           : "invalid number \"" + text + "\": must be 1 to " + std::to_string(most) + ", or " +
                                 std::string(word);
            },
            "NUMBER|" + std::string(word)};
}

[[nodiscard]] Planner describe_codec_command(CLI::App& options);
[[nodiscard]] Planner describe_fanout_command(CLI::App& options);
[[nodiscard]] Planner describe_footprint_command(CLI::App& options);
[[nodiscard]] Planner describe_latency_command(CLI::App& options);
[[nodiscard]] Planner describe_log_command(CLI::App& options);
[[nodiscard]] Planner describe_monitor_command(CLI::App& options);
[[nodiscard]] Planner describe_pipeline_command(CLI::App& options);
[[nodiscard]] Planner describe_queue_command(CLI::App& options);
[[nodiscard]] Planner describe_transport_command(CLI::App& options);
[[nodiscard]] Planner describe_uplink_command(CLI::App& options);

}  // namespace telegate::perf
