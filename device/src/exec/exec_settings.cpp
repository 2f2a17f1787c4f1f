#include "config/enum_names.hpp"
#include "config/setting_rules.hpp"
#include "device/driver_row.hpp"
#include "device/exec_driver.hpp"
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

/// What a device with the driver exec says.
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
constexpr TextListRule variables_rule{.allowed = "NAME=VALUE", .bytes_max = 1'024, .count_max = 64};
constexpr TextRule command_rule{.prefixes = {}, .allowed = "a command", .bytes_max = 4'096};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .key = "command", .rule = command_rule, .applies = Applies::file,
               .required = true,
               .meaning = "The program and its arguments, apart by blanks; quotes and backslashes keep blanks.",
               .slot = driver_slot<&E::command>},
    SettingRow{.section = "device", .key = "shell", .rule = BooleanRule{}, .applies = Applies::file,
               .meaning = "Whether command is given to /bin/sh as it is.", .slot = driver_slot<&E::shell>},
    SettingRow{.section = "device", .key = "mode", .rule = ChoiceRule{modes.names},
               .applies = Applies::live,
               .meaning = "Run once at each interval, or kept running and read as it prints.",
               .slot = driver_slot<&E::mode>},
    SettingRow{.section = "device", .key = "timeout_ms", .rule = rules::interval_ms, .unit = "ms",
               .applies = Applies::live, .meaning = "For once: how long one run may take.",
               .slot = driver_slot<&E::timeout_ms>},
    SettingRow{.section = "device", .key = "silence_ms",
               .rule = WholeRule{.min = 0, .max = 86'400'000}, .unit = "ms", .applies = Applies::live,
               .meaning = "For continuous: time without a good line after which the command is ended and started again; "
                          "0 means never.",
               .slot = driver_slot<&E::silence_ms>},
    SettingRow{.section = "device", .key = "format", .rule = ChoiceRule{formats.names},
               .applies = Applies::live,
               .meaning = "What it prints: lines of NAME=VALUE, of columns, of NMEA 0183, any that a pattern is for, or "
                          "of JSON.",
               .slot = driver_slot<&E::format>},
    SettingRow{.section = "device", .key = "columns", .rule = line_columns, .applies = Applies::live,
               .meaning = "For csv: names of the columns from the left, each with its unit in brackets if it has one; "
                          "- skips a column.",
               .slot = driver_slot<&E::columns>},
    SettingRow{.section = "device", .key = "delimiter", .rule = ChoiceRule{line_delimiters.names},
               .applies = Applies::live, .meaning = "For csv: what is between two columns.",
               .slot = driver_slot<&E::delimiter>},
    SettingRow{.section = "device", .key = "pattern", .rule = line_pattern, .applies = Applies::live,
               .meaning = "For regex: an expression in the syntax of RE2, whose named groups, (?P<name>...), become "
                          "channels.",
               .slot = driver_slot<&E::pattern>},
    SettingRow{.section = "device", .key = "checksum_required", .rule = BooleanRule{},
               .applies = Applies::live, .meaning = "For nmea: whether a sentence without a checksum is refused.",
               .slot = driver_slot<&E::checksum_required>},
    SettingRow{.section = "device", .key = "use_time", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "For json: whether a sample carries the time that its line gives in time_member.",
               .slot = driver_slot<&E::use_time>},
    SettingRow{.section = "device", .key = "time_precision", .rule = ChoiceRule{time_precisions.names},
               .applies = Applies::live,
               .meaning = "For json: what a number that is a time counts; auto tells it by its size.",
               .slot = driver_slot<&E::time_precision>},
    SettingRow{.section = "device", .key = "time_member", .rule = metric_member, .applies = Applies::live,
               .meaning = "For json: the outermost member that is the time, as a number or in ISO 8601.",
               .slot = driver_slot<&E::time_member>},
    SettingRow{.section = "device", .key = "name_member", .rule = metric_member, .applies = Applies::live,
               .meaning = "For json: the outermost member whose text comes before the names of the others.",
               .slot = driver_slot<&E::name_member>},
    SettingRow{.section = "device", .key = "line_bytes_max",
               .rule = WholeRule{.min = 16, .max = 65'536}, .unit = "bytes", .applies = Applies::live,
               .meaning = "Length of a line at most; a longer one is dropped and counted.",
               .slot = driver_slot<&E::line_bytes_max>},
    SettingRow{.section = "device", .key = "channels_max", .rule = WholeRule{.min = 1, .max = 4'096},
               .unit = "channels", .applies = Applies::live,
               .meaning = "Names of fields in its lines at most; a field of another name is dropped and counted.",
               .slot = driver_slot<&E::channels_max>},
    SettingRow{.section = "device", .key = "output_bytes_max",
               .rule = WholeRule{.min = 1'024, .max = 1'073'741'824}, .unit = "bytes", .applies = Applies::live,
               .meaning = "For once: what one run may print, on both outputs together.",
               .slot = driver_slot<&E::output_bytes_max>},
    SettingRow{.section = "device", .key = "working_directory", .rule = rules::directory,
               .applies = Applies::file, .meaning = "Where the command is run; begins with /.",
               .slot = driver_slot<&E::working_directory>},
    SettingRow{.section = "device", .key = "environment", .rule = variables_rule,
               .applies = Applies::file,
               .meaning = "Variables of the command, beside PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_ALL, TZ and "
                          "TMPDIR, which it has from the gateway.",
               .slot = driver_slot<&E::environment>},
    SettingRow{.section = "device", .key = "memory_max_bytes",
               .rule = WholeRule{.min = 1'048'576, .max = 1'099'511'627'776, .zero_is_default = true}, .unit = "bytes",
               .applies = Applies::live,
               .meaning = "Address space of each of its processes at most; 0 means no limit.",
               .slot = driver_slot<&E::memory_max_bytes>},
    SettingRow{.section = "device", .key = "cpu_seconds_max",
               .rule = WholeRule{.min = 0, .max = 86'400'000}, .unit = "s", .applies = Applies::live,
               .meaning = "Processor time of each of its processes at most; 0 means no limit.",
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
