#pragma once

#include "app/command_line.hpp"

#include <string>

namespace telegate {

/// What --check and --print-config say, and the exit code.
struct SettingsAnswer {
    int exit_code = exit_code::ok;
    std::string output;  // to stdout
    std::string errors;  // to stderr
};

/// --check loads and plans the settings as a start would. As JSON it answers
/// {"valid":false,"problems":[{"source","file","line","key","what"}],"warnings":["..."]}; what a problem has none of is
/// left out, and with --against "changes" as PUT /config gives them. The source is "file", "environment" with
/// "variable" in place of "file", or "command line" with "option"; the key is written as for --set. Warnings do not
/// make settings invalid.
/// --print-config loads the settings and prints all that hold, as text with their origins, as INI or as JSON.
[[nodiscard]] SettingsAnswer answer_settings(const CommandLine& command_line);

}  // namespace telegate
