#include "config/setting_rules.hpp"
#include "device/driver_row.hpp"
#include "exec/exec_driver.hpp"
#include "lines/line_settings.hpp"
#include "metrics/metric_settings.hpp"

#include <array>
#include <optional>
#include <utility>

namespace telegate {
namespace exec_driver {
namespace {

struct ExecSettings {
    ExecDriverOptions options = {};
    std::optional<LineFormat::Kind> format = LineFormat::Kind::key_value;  // nullopt: json
    MetricRules json = {};
};

using E = ExecSettings;
using O = ExecDriverOptions;

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
               .slot = slot_of<&E::options, &O::command>},
    SettingRow{.section = "device", .key = "shell", .rule = BooleanRule{}, .applies = Applies::file,
               .meaning = "Whether /bin/sh runs the command.", .slot = slot_of<&E::options, &O::shell>},
    SettingRow{.section = "device", .key = "mode", .rule = ChoiceRule{modes.names},
               .applies = Applies::live,
               .meaning = "Whether the command runs once per interval, or continuously while its output is read.",
               .slot = choice_of<modes, &E::options, &O::mode>},
    SettingRow{.section = "device", .key = "timeout_ms", .rule = rules::interval_ms, .unit = "ms",
               .applies = Applies::live, .meaning = "once: timeout of one run.",
               .slot = slot_of<&E::options, &O::timeout>},
    SettingRow{.section = "device", .key = "silence_ms",
               .rule = WholeRule{.min = 0, .max = 86'400'000}, .unit = "ms", .applies = Applies::live,
               .meaning = "continuous: time without a valid line after which the command is restarted; 0 disables this.",
               .slot = slot_of<&E::options, &O::silence_max>},
    SettingRow{.section = "device", .key = "format", .rule = ChoiceRule{formats.names},
               .applies = Applies::live,
               .meaning = "Format of the output lines: NAME=VALUE pairs, columns, NMEA 0183 sentences, lines that "
                          "match a pattern, or JSON.",
               .slot = choice_of<formats, &E::format>},
    SettingRow{.section = "device", .key = "columns", .rule = line_columns, .applies = Applies::live,
               .meaning = "csv: names of the columns from the left, optionally with a unit as in NAME[UNIT]; - skips a "
                          "column.",
               .slot = slot_of<&E::options, &O::lines, &LineFormat::columns>},
    SettingRow{.section = "device", .key = "delimiter", .rule = ChoiceRule{line_delimiters.names},
               .applies = Applies::live, .meaning = "csv: separator of the columns.",
               .slot = choice_of<line_delimiters, &E::options, &O::lines, &LineFormat::delimiter>},
    SettingRow{.section = "device", .key = "pattern", .rule = line_pattern, .applies = Applies::live,
               .meaning = "regex: RE2 expression whose named groups, (?P<name>...), become channels.",
               .slot = slot_of<&E::options, &O::lines, &LineFormat::pattern>},
    SettingRow{.section = "device", .key = "checksum_required", .rule = BooleanRule{},
               .applies = Applies::live, .meaning = "nmea: whether sentences without a checksum are refused.",
               .slot = slot_of<&E::options, &O::lines, &LineFormat::checksum_required>},
    SettingRow{.section = "device", .key = "use_time", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "json: whether samples carry the time in time_member instead of the time of arrival.",
               .slot = slot_of<&E::json, &MetricRules::use_time>},
    SettingRow{.section = "device", .key = "time_precision", .rule = ChoiceRule{time_precisions.names},
               .applies = Applies::live,
               .meaning = "json: unit of a numeric time; auto detects it from the magnitude.",
               .slot = choice_of<time_precisions, &E::json, &MetricRules::time_precision>},
    SettingRow{.section = "device", .key = "time_member", .rule = metric_member, .applies = Applies::live,
               .meaning = "json: outermost member with the time, as a number or in ISO 8601.",
               .slot = slot_of<&E::json, &MetricRules::time_member>},
    SettingRow{.section = "device", .key = "name_member", .rule = metric_member, .applies = Applies::live,
               .meaning = "json: outermost member whose text is prepended to the names of the other members.",
               .slot = slot_of<&E::json, &MetricRules::name_member>},
    SettingRow{.section = "device", .key = "line_bytes_max",
               .rule = WholeRule{.min = 16, .max = 65'536}, .unit = "bytes", .applies = Applies::live,
               .meaning = "Maximum length of a line; longer lines are dropped and counted.",
               .slot = slot_of<&E::options, &O::limits, &LineLimits::line_bytes_max>},
    SettingRow{.section = "device", .key = "channels_max", .rule = WholeRule{.min = 1, .max = 4'096},
               .unit = "channels", .applies = Applies::live,
               .meaning = "Maximum number of field names; fields with additional names are dropped and counted.",
               .slot = slot_of<&E::options, &O::limits, &LineLimits::channels_max>},
    SettingRow{.section = "device", .key = "output_bytes_max",
               .rule = WholeRule{.min = 1'024, .max = 1'073'741'824}, .unit = "bytes", .applies = Applies::live,
               .meaning = "once: maximum output of one run, stdout and stderr together.",
               .slot = slot_of<&E::options, &O::output_bytes_max>},
    SettingRow{.section = "device", .key = "working_directory", .rule = rules::directory,
               .applies = Applies::file, .meaning = "Working directory of the command; an absolute path.",
               .slot = slot_of<&E::options, &O::working_directory>},
    SettingRow{.section = "device", .key = "environment", .rule = variables_rule,
               .applies = Applies::file,
               .meaning = "Environment variables of the command, in addition to PATH, HOME, USER, LOGNAME, SHELL, "
                          "LANG, LC_ALL, TZ and TMPDIR from the gateway.",
               .slot = slot_of<&E::options, &O::environment>},
    SettingRow{.section = "device", .key = "memory_max_bytes",
               .rule = WholeRule{.min = 1'048'576, .max = 1'099'511'627'776, .zero_is_default = true}, .unit = "bytes",
               .applies = Applies::live,
               .meaning = "Maximum address space of each process; 0 means no limit.",
               .slot = slot_of<&E::options, &O::memory_max_bytes>},
    SettingRow{.section = "device", .key = "cpu_seconds_max",
               .rule = WholeRule{.min = 0, .max = 86'400'000}, .unit = "s", .applies = Applies::live,
               .meaning = "Maximum CPU time of each process; 0 means no limit.",
               .slot = slot_of<&E::options, &O::cpu_seconds_max>},
};
// clang-format on

std::unique_ptr<Driver> make(const DeviceSettings& device, DeviceChannels /*channels*/) {
    ExecSettings from = part_of<ExecSettings>(device.parts);
    if (from.format) {
        from.options.lines.kind = *from.format;
    } else {
        from.options.json = std::move(from.json);
    }
    return make_exec_driver(std::move(from.options));
}

}  // namespace
}  // namespace exec_driver

extern const DriverRow exec_driver_row{.name = "exec", .settings = exec_driver::rows, .make = exec_driver::make};

}  // namespace telegate
