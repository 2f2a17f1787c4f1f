#pragma once

#include "base/exit_code.hpp"
#include "config/settings_sources.hpp"

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>

namespace telegate {

/// The use that the program makes of its settings.
enum class Purpose : std::uint8_t { run, check, print, read, health };

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
/// N, --health, --output text|json, --version, --help/-h. Any other argument results in exit code 64. Collects the
/// variables that may be settings from `environment`, a null-terminated array.
[[nodiscard]] ParsedCommandLine parse_command_line(int argc, const char* const* argv, const char* const* environment);

/// Reads one device of the settings for --read, without a gateway: nothing is published, recorded, logged or bound,
/// except by the device's own driver. Prints each completed reading to `out` as text or, with --output json, as one
/// JSON object per line: the last sample of every channel with its unit and quality, and the error, if any. Deadbands,
/// rate limits and windows are ignored; scale, range, rate and alarm apply.
///
/// A polled device is read at its interval; a device that sends on its own is read for listen_time per reading. Returns
/// exit_code::ok; exit_code::unavailable if a reading failed; exit_code::usage if the device does not exist. Throws
/// SettingsError like load_plan().
///
/// Threads: one, which must live as long as a command of the device may run.
/// Limits: one sample per channel.
[[nodiscard]] int read_device(const CommandLine& command_line, std::ostream& out, std::ostream& errors);

/// Requests /readyz?verbose from the running gateway with these settings and prints the response, for --health. Uses
/// the Unix socket if there is one. Returns exit_code::ok if the gateway is ready, and exit_code::unavailable if it is
/// not or does not respond within two seconds. Throws SettingsError if the settings cannot be read.
///
/// Threads: one.
/// Limits: 64 KiB of the response.
[[nodiscard]] int check_health(const CommandLine& command_line, std::ostream& out, std::ostream& errors);

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
