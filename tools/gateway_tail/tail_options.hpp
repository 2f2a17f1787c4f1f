#pragma once

#include "core/curve.hpp"
#include "core/endpoint.hpp"
#include "splice.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::tail {

/// What the program answers its caller; those from 64 on as in sysexits.h.
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
/// As --help, gateway_tail(1) and docs/tail.md have them.
inline constexpr std::array<Meaning, 7> meanings = {{
    {nothing_lost, "nothing was lost"},
    {lost, "something was lost, or may be: the summary says what; or --last found no value"},
    {usage, "the command line is wrong"},
    {no_input, "a key file cannot be read"},
    {unavailable, "the gateway was never reached, its name is not known, or it has no services for --last"},
    {internal, "an internal error"},
    {io_error, "the output or the report cannot be written"},
}};
}  // namespace exit_code

enum class OutputFormat : std::uint8_t { text, json, csv, rates, none };

struct TailOptions {
    Endpoint publish;
    std::optional<Endpoint> services;  // none: no recovery
    std::vector<std::string> prefixes;
    OutputFormat format = OutputFormat::text;
    std::string color = "auto";
    std::string since;                  // as services take it; "": none
    std::int64_t since_utc_ns = 0;      // the same, by our clock
    std::int64_t since_now_utc_ns = 0;  // when that was found out
    bool last = false;
    bool follow = false;
    std::optional<std::uint64_t> count;
    std::optional<std::chrono::milliseconds> duration;
    std::optional<std::chrono::milliseconds> connect_timeout;
    std::string report;
    std::optional<CurveClient> publish_curve;
    std::optional<CurveClient> services_curve;

    /// Nothing is wanted live.
    [[nodiscard]] bool is_last_only() const noexcept { return last && !follow; }
};

/// Either options, or what to print and leave with.
struct ParsedTailOptions {
    std::optional<TailOptions> options;
    int exit_code = exit_code::nothing_lost;
    std::string output;
};

/// Reads key files, nothing else.
[[nodiscard]] ParsedTailOptions parse_tail_options(int argc, const char* const* argv);

/// Where the services of a publish endpoint are by default: the next port, or `services` for `-pub` or `/pub` in
/// the path.
/// Nullopt when there is no such rule for it.
[[nodiscard]] std::optional<Endpoint> default_services(const Endpoint& publish);

/// Without those that another one covers; sorted.
[[nodiscard]] std::vector<std::string> without_covered(std::vector<std::string> prefixes);

}  // namespace telegate::tail
