#pragma once

#include "exit_code.hpp"

#include <optional>
#include <string>

namespace telegate {

struct CommandLine {
    std::string config_path;  // "" when not given
    bool check = false;       // check the settings and stop
    std::string log_level;    // "" when not given
    std::string log_format;   // "" when not given
};

/// What main() does next: go on with `command_line`, or print and leave with `exit_code`.
struct ParsedCommandLine {
    CommandLine command_line;
    std::optional<int> exit_code;
    std::string output;  // to stdout when the code is 0, else to stderr
};

/// Parses --config/-c FILE, --check (alias --test), --log-level LEVEL, --log-format FORMAT, --version, --help/-h. Exit
/// code 64 on anything else.
[[nodiscard]] ParsedCommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace telegate
