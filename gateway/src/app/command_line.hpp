#pragma once

#include "base/exit_code.hpp"
#include "config/settings_sources.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace telegate {

/// What the program is to do with its settings.
enum class Purpose : std::uint8_t { run, check, print, read };

/// What --read reads, and how often.
struct ReadRequest {
    static constexpr std::uint64_t count_max = 1'000'000;

    std::string device;
    std::uint64_t count = 1;
};

struct CommandLine {
    SettingsSources sources;
    Purpose purpose = Purpose::run;
    ReadRequest read = {};        // meaningful for Purpose::read
    std::string against = {};     // a file of settings in force for --check, "-" for stdin; "": none
    std::string format = "text";  // of what is printed: "text", "ini" or "json"
};

/// What main() does next: go on with `command_line`, or print and leave with `exit_code`.
struct ParsedCommandLine {
    CommandLine command_line;
    std::optional<int> exit_code;
    std::string output;  // to stdout when the code is 0, else to stderr
};

/// Parses --config/-c FILE, --config-dir DIR, --set SECTION.KEY=VALUE, --log-level LEVEL, --log-format FORMAT, --check
/// (alias --test), --against FILE,
/// --print-config[=text|ini|json], --read DEVICE, --count N, --output text|json, --version, --help/-h. Exit code 64 on
/// anything else. Takes the variables that may be settings from `environment`, which ends with a null pointer.
[[nodiscard]] ParsedCommandLine parse_command_line(int argc, const char* const* argv, const char* const* environment);

}  // namespace telegate
