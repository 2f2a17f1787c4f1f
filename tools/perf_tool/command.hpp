#pragma once

#include "report.hpp"
#include "steps.hpp"
#include "transport/results.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

namespace telegate::perf {

/// A subcommand of perf_tool. `describe` adds its options to the command line and returns the function that measures.
/// That function measures all engines once per run, in turn, and fills the result step by step, so that it is useful if
/// the user ends the measurement. It throws std::runtime_error if a result is wrong. The report shows the options with
/// their values; `parameters` of the result are additional.
struct Command {
    using Result = std::variant<Report, Matrix>;
    using Action = std::function<void(Steps& steps, Result& result)>;

    const char* name;
    const char* summary;
    Action (*describe)(CLI::App& options);
};

/// Returns the action of a command whose options `add` adds to the command line.
template <class Options, class Result>
[[nodiscard]] Command::Action make_action(CLI::App& app, void (*add)(CLI::App& app, Options& options),
                                          void (*measure)(const Options& options, Steps& steps, Result& result),
                                          Options defaults = {}) {
    const auto options = std::make_shared<Options>(std::move(defaults));
    add(app, *options);
    return [options, measure](Steps& steps, Command::Result& result) {
        measure(*options, steps, result.emplace<Result>());
    };
}

/// Adds an option with several values, separated by commas.
template <class Value>
CLI::Option* add_list(CLI::App& app, const std::string& name, std::vector<Value>& values, const std::string& about) {
    return app.add_option(name, values, about)->delimiter(',');
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

[[nodiscard]] Command::Action describe_codec_command(CLI::App& options);
[[nodiscard]] Command::Action describe_fanout_command(CLI::App& options);
[[nodiscard]] Command::Action describe_footprint_command(CLI::App& options);
[[nodiscard]] Command::Action describe_latency_command(CLI::App& options);
[[nodiscard]] Command::Action describe_log_command(CLI::App& options);
[[nodiscard]] Command::Action describe_monitor_command(CLI::App& options);
[[nodiscard]] Command::Action describe_pipeline_command(CLI::App& options);
[[nodiscard]] Command::Action describe_queue_command(CLI::App& options);
[[nodiscard]] Command::Action describe_transport_command(CLI::App& options);
[[nodiscard]] Command::Action describe_uplink_command(CLI::App& options);

}  // namespace telegate::perf
