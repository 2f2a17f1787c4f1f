#include "settings_answer.hpp"

#include "config/settings_text.hpp"
#include "device_check.hpp"
#include "machine_check.hpp"
#include "plan.hpp"
#include "settings_json.hpp"

#include <nlohmann/json.hpp>

#include <unistd.h>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

/// Where it was given, for programs.
void add_source(Json& json, const SettingsProblem& problem) {
    constexpr std::string_view variable = "env ";
    if (problem.file.starts_with("--")) {
        json["source"] = "command line";
        json["option"] = problem.file;
    } else if (problem.file.starts_with(variable)) {
        json["source"] = "environment";
        json["variable"] = problem.file.substr(variable.size());
    } else if (!problem.file.empty()) {
        json["source"] = "file";
        json["file"] = problem.file;
    }
    if (problem.line > 0) {
        json["line"] = problem.line;
    }
}

Json problem_json(const SettingsProblem& problem) {
    Json json = Json::object();
    add_source(json, problem);
    const std::string& key = problem.setting.empty() ? problem.key : problem.setting;
    if (!key.empty()) {
        json["key"] = key;
    }
    json["what"] = problem.what;
    return json;
}

std::string answer_json(const std::vector<SettingsProblem>& problems, const std::vector<std::string>& warnings) {
    Json json{{"valid", problems.empty()}, {"problems", Json::array()}, {"warnings", warnings}};
    for (const SettingsProblem& problem : problems) {
        json["problems"].push_back(problem_json(problem));
    }
    return json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
}

std::string warning_lines(const std::vector<std::string>& warnings) {
    std::string lines;
    for (const std::string& warning : warnings) {
        lines += "warning: " + warning + '\n';
    }
    return lines;
}

SettingsAnswer checked_settings_answer(const SettingsSources& sources, std::string_view format) {
    const bool is_json = format == "json";
    try {
        // Root can read what belongs to the service's user; machine_problems() warns of it.
        LoadedPlan loaded = load_plan(sources, ::geteuid() == 0 ? SecretFile::of_any : SecretFile::own);
        std::vector<SettingsProblem> found = machine_problems(loaded.settings, loaded.origins);
        const std::vector<SettingsProblem> of_devices = device_warnings(loaded.settings, loaded.plan);
        found.insert(found.end(), of_devices.begin(), of_devices.end());
        sort_problems(found, sources.file);
        for (const SettingsProblem& problem : found) {
            loaded.warnings.push_back(problem.text());
        }
        if (is_json) {
            return {.output = answer_json({}, loaded.warnings), .errors = ""};
        }
        return {.output = sources.file + ": no problems found\n", .errors = warning_lines(loaded.warnings)};
    } catch (const SettingsError& error) {
        return {.exit_code = exit_code::of_settings(error),
                .output = is_json ? answer_json(error.problems(), {}) : "",
                .errors = is_json ? "" : std::string(error.what()) + '\n'};
    }
}

SettingsAnswer printed_settings_answer(const SettingsSources& sources, std::string_view format) {
    try {
        const LoadedSettings loaded = load_settings(sources);
        const std::string output = format == "ini"    ? sample_ini(loaded.settings)
                                   : format == "json" ? settings_json(loaded.settings)
                                                      : effective_text(loaded);
        return {.output = output, .errors = warning_lines(loaded.warnings)};
    } catch (const SettingsError& error) {
        return {.exit_code = exit_code::of_settings(error), .output = "", .errors = std::string(error.what()) + '\n'};
    }
}

}  // namespace

SettingsAnswer answer_settings(const CommandLine& command_line) {
    return (command_line.purpose == Purpose::check ? checked_settings_answer : printed_settings_answer)(
        command_line.sources, command_line.format);
}

}  // namespace telegate
