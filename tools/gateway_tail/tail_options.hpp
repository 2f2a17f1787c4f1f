#pragma once

#include "core/curve.hpp"
#include "core/endpoint.hpp"
#include "merger.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::tail {

/// Exit codes of the program; those of 64 and above are from sysexits.h.
namespace exit_code {
inline constexpr int nothing_lost = 0;
inline constexpr int lost = 1;
inline constexpr int usage = 64;
inline constexpr int no_input = 66;  // a key file cannot be read
inline constexpr int unavailable = 69;
inline constexpr int internal = 70;
inline constexpr int io_error = 74;

struct Meaning {
    int code;
    std::string_view words;
};
/// The same texts appear in --help, gateway_tail(1) and docs/tail.md.
inline constexpr std::array<Meaning, 7> meanings = {{
    {nothing_lost, "no samples were lost"},
    {lost, "samples were or may have been lost (see the summary), or --last found no value"},
    {usage, "the command line is invalid"},
    {no_input, "a key file cannot be read"},
    {unavailable,
     "the gateway is unreachable, its host name is unknown, or --last got no reply from the "
     "services"},
    {internal, "an internal error occurred"},
    {io_error, "the output or the report cannot be written"},
}};
}  // namespace exit_code

enum class OutputFormat : std::uint8_t { text, json, csv, none };

struct TailOptions {
    Endpoint publish;
    std::optional<Endpoint> services;  // none: no recovery
    std::vector<std::string> prefixes;
    OutputFormat format = OutputFormat::text;
    std::string color = "auto";
    std::string since;                  // in the syntax of the services; empty: none
    std::int64_t since_utc_ns = 0;      // the same as a time of the local clock
    std::int64_t since_now_utc_ns = 0;  // local time when `since` was parsed
    bool last = false;
    bool follow = false;
    std::optional<std::uint64_t> count;
    std::optional<std::chrono::milliseconds> duration;
    std::optional<std::chrono::milliseconds> connect_timeout;
    std::string report;
    std::optional<CurveClient> publish_curve;
    std::optional<CurveClient> services_curve;

    /// Returns whether no live samples are requested.
    [[nodiscard]] bool is_last_only() const noexcept { return last && !follow; }
};

/// Either options, or a text to print and an exit code.
struct ParsedTailOptions {
    std::optional<TailOptions> options;
    int exit_code = exit_code::nothing_lost;
    std::string output;
};

/// Parses the command line. Reads key files, nothing else.
[[nodiscard]] ParsedTailOptions parse_tail_options(int argc, const char* const* argv);

/// Returns the default services endpoint of a publish endpoint: the next port, or `services` instead of `-pub` or
/// `/pub` in the path. Returns nullopt if no default can be derived.
[[nodiscard]] std::optional<Endpoint> default_services(const Endpoint& publish);

/// Returns the prefixes, sorted, without those that another one covers.
[[nodiscard]] std::vector<std::string> without_covered(std::vector<std::string> prefixes);

/// Returns `endpoint` with its host name replaced by a numeric address; other endpoints are returned unchanged. Blocks
/// while the name is resolved. Throws std::runtime_error that names the host.
[[nodiscard]] Endpoint resolved(Endpoint endpoint);

}  // namespace telegate::tail
