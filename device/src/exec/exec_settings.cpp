#include "config/enum_names.hpp"
#include "config/setting_rules.hpp"
#include "device/driver_row.hpp"
#include "exec/exec_driver.hpp"
#include "lines/line_settings.hpp"
#include "metrics/metric_settings.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace telegate {
namespace exec_driver {
namespace {

/// The settings of a device with the driver exec.
struct ExecSettings {
    std::string command;
    bool shell = false;
    std::string mode = "once";
    std::int64_t timeout_ms = 5'000;  // once
    std::int64_t silence_ms = 0;      // continuous; 0: never
    std::string format = "key_value";
    std::vector<std::string> columns;  // csv
    std::string delimiter = "comma";   // csv
    std::string pattern;               // regex
    bool checksum_required = false;    // nmea
    bool use_time = false;             // json
    std::string time_precision = "auto";
    std::string time_member;  // json; "": none
    std::string name_member;  // json; "": none
    std::int64_t line_bytes_max = 1'024;
    std::int64_t channels_max = 256;
    std::int64_t output_bytes_max = 1'048'576;  // once
    std::string working_directory = "/";
    std::vector<std::string> environment;
    std::int64_t memory_max_bytes = 0;  // 0: no limit
    std::int64_t cpu_seconds_max = 0;   // 0: no limit
};

using E = ExecSettings;

using Mode = ExecDriverOptions::Mode;
using Kind = LineFormat::Kind;

constexpr auto modes = enum_names<Mode>({{"once", Mode::once}, {"continuous", Mode::continuous}});
constexpr auto formats = enum_names<std::optional<Kind>>({{"key_value", Kind::key_value},
                                                          {"csv", Kind::csv},
                                                          {"nmea", Kind::nmea},
                                                          {"regex", Kind::regex},
                                                          {"json", std::nullopt}});
constexpr TextListRule variables_rule{
    .holds = Holds::secret, .allowed = "NAME=VALUE", .bytes_max = 1'024, .count_max = 64};
constexpr TextRule command_rule{.holds = Holds::program, .prefixes = {}, .allowed = "a command", .bytes_max = 4'096};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .key = "command", .rule = command_rule, .applies = Applies::file,
               .required = true,
               .meaning = "The program and its arguments, separated by blanks. Use quotes or backslashes to include "
                          "blanks.",
               .slot = driver_slot<&E::command>},
    SettingRow{.section = "device", .key = "shell", .rule = BooleanRule{}, .applies = Applies::file,
               .meaning = "Whether /bin/sh runs the command.", .slot = driver_slot<&E::shell>},
    SettingRow{.section = "device", .key = "mode", .rule = ChoiceRule{modes.names},
               .applies = Applies::live,
               .meaning = "Whether the command runs once per interval, or continuously while its output is read.",
               .slot = driver_slot<&E::mode>},
    SettingRow{.section = "device", .key = "timeout_ms", .rule = rules::interval_ms, .unit = "ms",
               .applies = Applies::live, .meaning = "once: timeout of one run.",
               .slot = driver_slot<&E::timeout_ms>},
    SettingRow{.section = "device", .key = "silence_ms",
               .rule = WholeRule{.min = 0, .max = 86'400'000}, .unit = "ms", .applies = Applies::live,
               .meaning = "continuous: time without a valid line after which the command is restarted; 0 disables this.",
               .slot = driver_slot<&E::silence_ms>},
    SettingRow{.section = "device", .key = "format", .rule = ChoiceRule{formats.names},
               .applies = Applies::live,
               .meaning = "Format of the output lines: NAME=VALUE pairs, columns, NMEA 0183 sentences, lines that "
                          "match a pattern, or JSON.",
               .slot = driver_slot<&E::format>},
    SettingRow{.section = "device", .key = "columns", .rule = line_columns, .applies = Applies::live,
               .meaning = "csv: names of the columns from the left, optionally with a unit as in NAME[UNIT]; - skips a "
                          "column.",
               .slot = driver_slot<&E::columns>},
    SettingRow{.section = "device", .key = "delimiter", .rule = ChoiceRule{line_delimiters.names},
               .applies = Applies::live, .meaning = "csv: separator of the columns.",
               .slot = driver_slot<&E::delimiter>},
    SettingRow{.section = "device", .key = "pattern", .rule = line_pattern, .applies = Applies::live,
               .meaning = "regex: RE2 expression whose named groups, (?P<name>...), become channels.",
               .slot = driver_slot<&E::pattern>},
    SettingRow{.section = "device", .key = "checksum_required", .rule = BooleanRule{},
               .applies = Applies::live, .meaning = "nmea: whether sentences without a checksum are refused.",
               .slot = driver_slot<&E::checksum_required>},
    SettingRow{.section = "device", .key = "use_time", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "json: whether samples carry the time in time_member instead of the time of arrival.",
               .slot = driver_slot<&E::use_time>},
    SettingRow{.section = "device", .key = "time_precision", .rule = ChoiceRule{time_precisions.names},
               .applies = Applies::live,
               .meaning = "json: unit of a numeric time; auto detects it from the magnitude.",
               .slot = driver_slot<&E::time_precision>},
    SettingRow{.section = "device", .key = "time_member", .rule = metric_member, .applies = Applies::live,
               .meaning = "json: outermost member with the time, as a number or in ISO 8601.",
               .slot = driver_slot<&E::time_member>},
    SettingRow{.section = "device", .key = "name_member", .rule = metric_member, .applies = Applies::live,
               .meaning = "json: outermost member whose text is prepended to the names of the other members.",
               .slot = driver_slot<&E::name_member>},
    SettingRow{.section = "device", .key = "line_bytes_max",
               .rule = WholeRule{.min = 16, .max = 65'536}, .unit = "bytes", .applies = Applies::live,
               .meaning = "Maximum length of a line; longer lines are dropped and counted.",
               .slot = driver_slot<&E::line_bytes_max>},
    SettingRow{.section = "device", .key = "channels_max", .rule = WholeRule{.min = 1, .max = 4'096},
               .unit = "channels", .applies = Applies::live,
               .meaning = "Maximum number of field names; fields with additional names are dropped and counted.",
               .slot = driver_slot<&E::channels_max>},
    SettingRow{.section = "device", .key = "output_bytes_max",
               .rule = WholeRule{.min = 1'024, .max = 1'073'741'824}, .unit = "bytes", .applies = Applies::live,
               .meaning = "once: maximum output of one run, stdout and stderr together.",
               .slot = driver_slot<&E::output_bytes_max>},
    SettingRow{.section = "device", .key = "working_directory", .rule = rules::directory,
               .applies = Applies::file, .meaning = "Working directory of the command; an absolute path.",
               .slot = driver_slot<&E::working_directory>},
    SettingRow{.section = "device", .key = "environment", .rule = variables_rule,
               .applies = Applies::file,
               .meaning = "Environment variables of the command, in addition to PATH, HOME, USER, LOGNAME, SHELL, "
                          "LANG, LC_ALL, TZ and TMPDIR from the gateway.",
               .slot = driver_slot<&E::environment>},
    SettingRow{.section = "device", .key = "memory_max_bytes",
               .rule = WholeRule{.min = 1'048'576, .max = 1'099'511'627'776, .zero_is_default = true}, .unit = "bytes",
               .applies = Applies::live,
               .meaning = "Maximum address space of each process; 0 means no limit.",
               .slot = driver_slot<&E::memory_max_bytes>},
    SettingRow{.section = "device", .key = "cpu_seconds_max",
               .rule = WholeRule{.min = 0, .max = 86'400'000}, .unit = "s", .applies = Applies::live,
               .meaning = "Maximum CPU time of each process; 0 means no limit.",
               .slot = driver_slot<&E::cpu_seconds_max>},
};
// clang-format on

std::unique_ptr<Driver> make(const DeviceSettings& device, DeviceChannels /*channels*/) {
    const ExecSettings& from = part_of<ExecSettings>(device.driver_settings);
    ExecDriverOptions options;
    options.command = from.command;
    options.shell = from.shell;
    options.mode = modes.value(from.mode);
    options.timeout = std::chrono::milliseconds(from.timeout_ms);
    options.silence_max = std::chrono::milliseconds(from.silence_ms);
    if (const auto kind = formats.value(from.format)) {
        options.lines = to_line_format(*kind, from);
    } else {
        options.json = to_metric_rules(from);
    }
    options.limits.line_bytes_max = static_cast<std::size_t>(from.line_bytes_max);
    options.limits.channels_max = static_cast<std::size_t>(from.channels_max);
    options.output_bytes_max = static_cast<std::size_t>(from.output_bytes_max);
    options.working_directory = from.working_directory;
    options.environment = from.environment;
    options.memory_max_bytes = static_cast<std::size_t>(from.memory_max_bytes);
    options.cpu_seconds_max = static_cast<std::uint32_t>(from.cpu_seconds_max);
    return make_exec_driver(std::move(options));
}

}  // namespace
}  // namespace exec_driver

extern const DriverRow exec_driver_row{.name = "exec", .settings = exec_driver::rows, .make = exec_driver::make};

}  // namespace telegate
