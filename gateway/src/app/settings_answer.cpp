#include "app/command_line.hpp"

#include "base/json_object.hpp"
#include "config/hidden_secrets.hpp"
#include "config/settings_text.hpp"
#include "plan/checks.hpp"
#include "plan/plan.hpp"
#include "settings/settings_json.hpp"
#include "status/status_parts.hpp"

#include <unistd.h>
#include <array>
#include <cstddef>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

namespace telegate {
namespace {

/// Adds the source of the problem in machine-readable form.
void add_source(JsonObject& out, const SettingsProblem& problem) {
    struct Names {
        const char* source;
        const char* member;
    };
    constexpr std::array<Names, 3> names{{{"file", "file"}, {"environment", "variable"}, {"command line", "option"}}};
    const SettingsPlace& place = problem.place;
    if (!place.name.empty()) {
        const Names& named = names.at(static_cast<std::size_t>(place.source));
        out.add("source", named.source);
        out.add(named.member, place.name);
    }
    if (place.line > 0) {
        out.add("line", place.line);
    }
}

void list_problem_of_settings(JsonObject& out, const SettingsProblem& problem) {
    add_source(out, problem);
    out.add_if("key", text_or_null(problem.setting.empty() ? problem.key : problem.setting));
    out.add("what", problem.what);
}

using Changes = std::optional<std::vector<SettingChange>>;  // nullopt: not compared

/// Returns the differences from the settings in `path`, which has the format of GET /config.
std::vector<SettingChange> changes_from(const std::string& path, const Settings& wanted) {
    std::ifstream file(path == "-" ? "/dev/stdin" : path);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file) {
        throw SettingsError(
            {{.place = {"--against " + path, 0, SettingSource::command_line}, .key = "", .what = "cannot be read"}});
    }
    try {
        Settings in_force = settings_from_json(text);
        restore_hidden(in_force, wanted);
        return diff(in_force, wanted);
    } catch (const SettingsError& error) {
        std::vector<SettingsProblem> problems = error.problems();
        for (SettingsProblem& problem : problems) {
            problem.place = {"--against " + path, 0, SettingSource::command_line};
        }
        throw SettingsError(std::move(problems));
    }
}

std::string against_line(const SettingChange& change) {
    const bool is_value = change.kind == SettingChange::Kind::changed;
    return "change: " + key_text(change) + ' ' + std::string(to_string(change.kind)) +
           (is_value ? " from \"" + change.from + "\" to \"" + change.to + '"' : "") +
           (change.applies == Applies::restart ? ": needs a restart\n" : ": a reload applies it\n");
}

/// Empty without --against.
std::string against_lines(const Changes& changes) {
    std::string lines = changes && changes->empty() ? "change: none\n" : "";
    for (const SettingChange& change : changes.value_or(std::vector<SettingChange>())) {
        lines += against_line(change);
    }
    return lines;
}

std::string answer_json(const std::vector<SettingsProblem>& problems, const std::vector<std::string>& warnings,
                        const Changes& changes) {
    return json_object_text([&](JsonObject& out) {
               out.add("valid", problems.empty());
               out.array("problems", problems, list_problem_of_settings);
               out.add("warnings", warnings);
               if (changes) {
                   out.array("changes", *changes, list_change);
               }
           }) +
           '\n';
}

std::string warning_lines(const std::vector<std::string>& warnings) {
    std::string lines;
    for (const std::string& warning : warnings) {
        lines += "warning: " + warning + '\n';
    }
    return lines;
}

SettingsAnswer checked_settings_answer(const CommandLine& command_line) {
    const SettingsSources& sources = command_line.sources;
    const bool is_json = command_line.format == "json";
    try {
        // Root can read files of the service's user; machine_problems() warns about that.
        LoadedPlan loaded = load_plan(sources, ::geteuid() == 0 ? SecretFile::of_any : SecretFile::own);
        std::vector<SettingsProblem> found = machine_problems(loaded.settings);
        const std::vector<SettingsProblem> of_devices = device_warnings(loaded.settings, loaded.plan);
        found.insert(found.end(), of_devices.begin(), of_devices.end());
        sort_problems(found, sources.file);
        for (const SettingsProblem& problem : found) {
            loaded.warnings.push_back(problem.text());
        }
        const Changes changes =
            command_line.against.empty() ? Changes() : Changes(changes_from(command_line.against, loaded.settings));
        if (is_json) {
            return {.output = answer_json({}, loaded.warnings, changes), .errors = ""};
        }
        return {.output = sources.file + ": no problems found\n" + against_lines(changes),
                .errors = warning_lines(loaded.warnings)};
    } catch (const SettingsError& error) {
        return {.exit_code = exit_code::of_settings(error),
                .output = is_json ? answer_json(error.problems(), {}, std::nullopt) : "",
                .errors = is_json ? "" : std::string(error.what()) + '\n'};
    }
}

SettingsAnswer printed_settings_answer(const CommandLine& command_line) {
    const SettingsSources& sources = command_line.sources;
    const std::string& format = command_line.format;
    try {
        const LoadedSettings loaded = load_settings(sources);
        const std::string output = format == "ini"    ? sample_ini(loaded.settings)
                                   : format == "json" ? settings_json(loaded.settings)
                                                      : effective_text(loaded.settings);
        return {.output = output, .errors = warning_lines(loaded.warnings)};
    } catch (const SettingsError& error) {
        return {.exit_code = exit_code::of_settings(error), .output = "", .errors = std::string(error.what()) + '\n'};
    }
}

}  // namespace

SettingsAnswer answer_settings(const CommandLine& command_line) {
    return (command_line.purpose == Purpose::check ? checked_settings_answer : printed_settings_answer)(command_line);
}

}  // namespace telegate
