#include "rows.hpp"
#include "setting_rules.hpp"
#include "setting_slots.hpp"

#include <array>

namespace telegate {
namespace exec_section {

using D = DeviceSettings;
using E = ExecSettings;

constexpr std::array<std::string_view, 2> modes{"once", "continuous"};
constexpr std::array<std::string_view, 5> formats{"key_value", "csv", "nmea", "regex", "json"};
constexpr std::array<std::string_view, 6> delimiters{"comma", "semicolon", "tab", "blank", "bar", "colon"};
constexpr std::array<std::string_view, 5> precisions{"auto", "ns", "us", "ms", "s"};
// A name of a channel and a unit.
constexpr TextListRule columns{
    .allowed = "NAME, NAME[UNIT] or -", .bytes_max = 128, .count_max = 256, .may_repeat = true};
constexpr TextListRule variables{.allowed = "NAME=VALUE", .bytes_max = 1'024, .count_max = 64};
constexpr TextRule command{.prefixes = {}, .allowed = "a command", .bytes_max = 4'096};
constexpr TextRule pattern{
    .prefixes = {}, .allowed = "a regular expression, or nothing", .bytes_max = 1'024, .may_be_empty = true};
constexpr TextRule member{
    .prefixes = {}, .allowed = "the name of a member, or nothing", .bytes_max = 64, .may_be_empty = true};

// clang-format off
constexpr std::array rows{
    SettingRow{.section = "device", .driver = "exec", .key = "command", .rule = command, .applies = Applies::file,
               .required = true,
               .meaning = "The program and its arguments, apart by blanks; quotes and backslashes keep blanks.",
               .slot = slot<&D::exec, &E::command>},
    SettingRow{.section = "device", .driver = "exec", .key = "shell", .rule = BooleanRule{}, .applies = Applies::file,
               .meaning = "Whether command is given to /bin/sh as it is.", .slot = slot<&D::exec, &E::shell>},
    SettingRow{.section = "device", .driver = "exec", .key = "mode", .rule = ChoiceRule{modes},
               .applies = Applies::live,
               .meaning = "Run once at each interval, or kept running and read as it prints.",
               .slot = slot<&D::exec, &E::mode>},
    SettingRow{.section = "device", .driver = "exec", .key = "timeout_ms", .rule = rules::interval_ms, .unit = "ms",
               .applies = Applies::live, .meaning = "For once: how long one run may take.",
               .slot = slot<&D::exec, &E::timeout_ms>},
    SettingRow{.section = "device", .driver = "exec", .key = "silence_ms",
               .rule = WholeRule{.min = 0, .max = 86'400'000}, .unit = "ms", .applies = Applies::live,
               .meaning = "For continuous: time without a good line after which the command is ended and started again; "
                          "0 means never.",
               .slot = slot<&D::exec, &E::silence_ms>},
    SettingRow{.section = "device", .driver = "exec", .key = "format", .rule = ChoiceRule{formats},
               .applies = Applies::live,
               .meaning = "What it prints: lines of NAME=VALUE, of columns, of NMEA 0183, any that a pattern is for, or "
                          "of JSON.",
               .slot = slot<&D::exec, &E::format>},
    SettingRow{.section = "device", .driver = "exec", .key = "columns", .rule = columns, .applies = Applies::live,
               .meaning = "For csv: names of the columns from the left, each with its unit in brackets if it has one; "
                          "- skips a column.",
               .slot = slot<&D::exec, &E::columns>},
    SettingRow{.section = "device", .driver = "exec", .key = "delimiter", .rule = ChoiceRule{delimiters},
               .applies = Applies::live, .meaning = "For csv: what is between two columns.",
               .slot = slot<&D::exec, &E::delimiter>},
    SettingRow{.section = "device", .driver = "exec", .key = "pattern", .rule = pattern, .applies = Applies::live,
               .meaning = "For regex: an expression in the syntax of RE2, whose named groups, (?P<name>...), become "
                          "channels.",
               .slot = slot<&D::exec, &E::pattern>},
    SettingRow{.section = "device", .driver = "exec", .key = "checksum_required", .rule = BooleanRule{},
               .applies = Applies::live, .meaning = "For nmea: whether a sentence without a checksum is refused.",
               .slot = slot<&D::exec, &E::checksum_required>},
    SettingRow{.section = "device", .driver = "exec", .key = "use_time", .rule = BooleanRule{},
               .applies = Applies::live,
               .meaning = "For json: whether a sample carries the time that its line gives in time_member.",
               .slot = slot<&D::exec, &E::use_time>},
    SettingRow{.section = "device", .driver = "exec", .key = "time_precision", .rule = ChoiceRule{precisions},
               .applies = Applies::live,
               .meaning = "For json: what a number that is a time counts; auto tells it by its size.",
               .slot = slot<&D::exec, &E::time_precision>},
    SettingRow{.section = "device", .driver = "exec", .key = "time_member", .rule = member, .applies = Applies::live,
               .meaning = "For json: the outermost member that is the time, as a number or in ISO 8601.",
               .slot = slot<&D::exec, &E::time_member>},
    SettingRow{.section = "device", .driver = "exec", .key = "name_member", .rule = member, .applies = Applies::live,
               .meaning = "For json: the outermost member whose text comes before the names of the others.",
               .slot = slot<&D::exec, &E::name_member>},
    SettingRow{.section = "device", .driver = "exec", .key = "line_bytes_max",
               .rule = WholeRule{.min = 16, .max = 65'536}, .unit = "bytes", .applies = Applies::live,
               .meaning = "Length of a line at most; a longer one is dropped and counted.",
               .slot = slot<&D::exec, &E::line_bytes_max>},
    SettingRow{.section = "device", .driver = "exec", .key = "channels_max", .rule = WholeRule{.min = 1, .max = 4'096},
               .unit = "channels", .applies = Applies::live,
               .meaning = "Names of fields in its lines at most; a field of another name is dropped and counted.",
               .slot = slot<&D::exec, &E::channels_max>},
    SettingRow{.section = "device", .driver = "exec", .key = "output_bytes_max",
               .rule = WholeRule{.min = 1'024, .max = 1'073'741'824}, .unit = "bytes", .applies = Applies::live,
               .meaning = "For once: what one run may print, on both outputs together.",
               .slot = slot<&D::exec, &E::output_bytes_max>},
    SettingRow{.section = "device", .driver = "exec", .key = "working_directory", .rule = rules::directory,
               .applies = Applies::file, .meaning = "Where the command is run; begins with /.",
               .slot = slot<&D::exec, &E::working_directory>},
    SettingRow{.section = "device", .driver = "exec", .key = "environment", .rule = variables,
               .applies = Applies::file,
               .meaning = "Variables of the command, beside PATH, HOME, USER, LOGNAME, SHELL, LANG, LC_ALL, TZ and "
                          "TMPDIR, which it has from the gateway.",
               .slot = slot<&D::exec, &E::environment>},
    SettingRow{.section = "device", .driver = "exec", .key = "memory_max_bytes",
               .rule = WholeRule{.min = 1'048'576, .max = 1'099'511'627'776, .zero_is_default = true}, .unit = "bytes",
               .applies = Applies::live,
               .meaning = "Address space of each of its processes at most; 0 means no limit.",
               .slot = slot<&D::exec, &E::memory_max_bytes>},
    SettingRow{.section = "device", .driver = "exec", .key = "cpu_seconds_max",
               .rule = WholeRule{.min = 0, .max = 86'400'000}, .unit = "s", .applies = Applies::live,
               .meaning = "Processor time of each of its processes at most; 0 means no limit.",
               .slot = slot<&D::exec, &E::cpu_seconds_max>},
};
// clang-format on

}  // namespace exec_section

std::span<const SettingRow> exec_rows() noexcept {
    return exec_section::rows;
}

}  // namespace telegate
