#pragma once

#include "time_range.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::log_tool {

/// Exit codes of the program; those of 64 and above are from sysexits.h.
namespace exit_code {
inline constexpr int ok = 0;
inline constexpr int not_ok = 1;
inline constexpr int usage = 64;
inline constexpr int no_input = 66;
inline constexpr int internal = 70;
inline constexpr int cannot_create = 73;
inline constexpr int io_error = 74;
inline constexpr int in_use = 75;
inline constexpr int no_permission = 77;

struct Meaning {
    int code;
    std::string_view words;
};
/// The same texts appear in --help, gateway_log(1) and docs/log.md.
inline constexpr std::array<Meaning, 9> meanings = {{
    {ok, "success; verify: every missing sample is explained"},
    {not_ok,
     "verify: something is unexplained; dump, export: unknown channel; query: no sample found; repair: something is "
     "left to repair"},
    {usage, "the command line is invalid"},
    {no_input, "the directory does not exist or has no log"},
    {internal, "an internal error occurred"},
    {cannot_create, "the output file cannot be created"},
    {io_error, "a file cannot be read or written"},
    {in_use, "repair: a gateway is using the log"},
    {no_permission, "permission denied"},
}};
}  // namespace exit_code

enum class ExportFormat : std::uint8_t { csv, json };

/// Selects channels by their topics. A pattern that ends in `*` matches all topics that begin with the part before it;
/// any other pattern matches exactly one topic. Without patterns, it selects all channels.
/// Threads: any. Limits: none. Failure: none.
class ChannelFilter {
  public:
    explicit ChannelFilter(std::vector<std::string> patterns = {}) : patterns_(std::move(patterns)) {}

    [[nodiscard]] bool matches(std::string_view topic) const;
    [[nodiscard]] static bool matches(std::string_view pattern, std::string_view topic);
    [[nodiscard]] const std::vector<std::string>& patterns() const noexcept { return patterns_; }

  private:
    std::vector<std::string> patterns_;
};

struct LogOptions;
struct Surroundings;
/// Runs a command and returns its exit code. commands.hpp has them.
using Command = int (*)(const LogOptions& options, const Surroundings& surroundings);

struct LogOptions {
    Command command = nullptr;
    std::string directory;
    bool json = false;
    ChannelFilter channels;
    TimeRange times;
    ExportFormat format = ExportFormat::csv;
    std::string output;   // "-": standard output
    std::string channel;  // of a query
    std::chrono::nanoseconds interval = std::chrono::minutes(1);
};

/// Either options, or a text to print and an exit code.
template <class Options>
struct Parsed {
    std::optional<Options> options;
    int exit_code = exit_code::ok;
    std::string output;
};

/// Parses the command line. Ages are counted back from `now_ns`.
[[nodiscard]] Parsed<LogOptions> parse_log_options(int argc, const char* const* argv, std::int64_t now_ns);

}  // namespace telegate::log_tool
