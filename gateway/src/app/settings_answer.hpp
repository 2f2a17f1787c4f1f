#pragma once

#include "app/command_line.hpp"

#include <string>

namespace telegate {

/// The output of --check and --print-config, and the exit code.
struct SettingsAnswer {
    int exit_code = exit_code::ok;
    std::string output;  // to stdout
    std::string errors;  // to stderr
};

/// Runs --check or --print-config.
///
/// --check loads and plans the settings as at start-up. As JSON:
/// {"valid":false,"problems":[{"source","file","line","key","what"}],"warnings":["..."]}; members without a value are
/// omitted. With --against, "changes" is added in the format of PUT /config. The source is "file", "environment" with
/// "variable" instead of "file", or "command line" with "option"; the key has the notation of --set. Warnings do not
/// make settings invalid.
///
/// --print-config loads the settings and prints those in force, as text with their sources, as INI or as JSON.
[[nodiscard]] SettingsAnswer answer_settings(const CommandLine& command_line);

}  // namespace telegate
