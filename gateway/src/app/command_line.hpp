#pragma once

#include "base/exit_code.hpp"
#include "config/settings_sources.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace telegate {

/// The use that the program makes of its settings.
enum class Purpose : std::uint8_t { run, check, print, read };

/// The device to read with --read and the number of readings.
struct ReadRequest {
    static constexpr std::uint64_t count_max = 1'000'000;

    std::string device;
    std::uint64_t count = 1;
};

struct CommandLine {
    SettingsSources sources;
    Purpose purpose = Purpose::run;
    ReadRequest read = {};        // only for Purpose::read
    std::string against = {};     // for --check: a file with the settings in force, "-" for stdin; "": none
    std::string format = "text";  // of the output: "text", "ini" or "json"
};

/// Either a command line to run, or an exit code with the output to print before exiting.
struct ParsedCommandLine {
    CommandLine command_line;
    std::optional<int> exit_code;
    std::string output;  // to stdout if the exit code is 0, otherwise to stderr
};

/// Parses the command line: --config/-c FILE, --config-dir DIR, --set SECTION.KEY=VALUE, --log-level LEVEL,
/// --log-format FORMAT, --check (alias --test), --against FILE, --print-config[=text|ini|json], --read DEVICE, --count
/// N, --output text|json, --version, --help/-h. Any other argument results in exit code 64. Collects the variables that
/// may be settings from `environment`, a null-terminated array.
[[nodiscard]] ParsedCommandLine parse_command_line(int argc, const char* const* argv, const char* const* environment);

}  // namespace telegate
