#include "environment.hpp"

#include "config/nearest_name.hpp"
#include "config/settings_table.hpp"
#include "ini_text.hpp"
#include "name_advice.hpp"
#include "settings_files.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

namespace telegate {
namespace {

constexpr std::string_view prefix = "TELEGATE_";
constexpr std::string_view file_suffix = "_FILE";

std::string upper(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](char c) {
        const bool is_separator = c == '.' || c == '-' || c == '/';
        return is_separator ? '_' : (c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
    });
    return out;
}

std::string dotted(const SettingKey& key) {
    return key.section + "." + (key.name.empty() ? "" : key.name + ".") + key.key;
}

/// Returns all pairs of section and key; a key that several drivers have occurs once.
std::set<std::pair<std::string_view, std::string_view>> keys_of_table() {
    std::set<std::pair<std::string_view, std::string_view>> keys;
    for (const SettingRow& row : settings_table()) {
        keys.emplace(row.section, row.key);
    }
    return keys;
}

SettingsPlace place_of(const std::string& variable) {
    return {variable, 0, SettingSource::environment};
}

/// Every possible variable name, with the settings that it can mean.
using Meanings = std::map<std::string, std::vector<SettingKey>>;

Meanings meanings_of(const std::vector<SettingsSource>& sources) {
    std::map<std::string_view, std::set<std::string>> names;  // of the instances, by section
    for (const SettingsSource& source : sources) {
        for (const GivenSection& section : source.sections) {
            if (const SectionRow* const row = find_section(section.kind); row != nullptr && section.name) {
                names[row->name].insert(*section.name);
            }
        }
    }
    Meanings meanings;
    const auto add = [&](const SettingKey& key) {
        meanings[variable_name(key)].push_back(key);
    };
    for (const auto& [section, key] : keys_of_table()) {
        if (find_section(section)->named()) {
            for (const std::string& name : names[section]) {
                add({std::string(section), name, std::string(key)});
            }
            continue;
        }
        add({std::string(section), "", std::string(key)});
        if (section == "gateway") {
            meanings[std::string(prefix) + upper(key)].push_back({std::string(section), "", std::string(key)});
        }
    }
    return meanings;
}

/// Assigns each variable to its setting.
///
/// Threads: one.
/// Limits: settings_warnings_max warnings; further ones are counted.
/// Failure: reports problems and warnings; nothing else can fail.
class EnvironmentReading {
  public:
    EnvironmentReading(Meanings meanings, ProblemList& problems, std::vector<std::string>& warnings)
        : meanings_(std::move(meanings)), problems_(problems), warnings_(warnings) {}

    void take(const std::string& variable, const std::string& value) {
        const std::string_view name = variable;
        auto found = meanings_.find(variable);
        const bool is_file = found == meanings_.end() && name.ends_with(file_suffix);
        if (is_file) {
            found = meanings_.find(std::string(name.substr(0, name.size() - file_suffix.size())));
        }
        if (found == meanings_.end()) {
            warn(variable);
        } else if (const auto& keys = found->second; keys.size() > 1) {
            problems_.add(place_of(variable), "",
                          "ambiguous: " + dotted(keys[0]) + " or " + dotted(keys[1]) +
                              "; use --set or a file for these settings");
        } else {
            give(variable, keys.front(), is_file ? content(variable, value) : value);
        }
    }

    SettingsSource finish() {
        if (left_out_ > 0) {
            warnings_.push_back("env: " + std::to_string(left_out_) + " more variables match no setting");
        }
        return std::move(source_);
    }

  private:
    void warn(const std::string& variable) {
        if (warnings_.size() == settings_warnings_max) {
            ++left_out_;
            return;
        }
        warnings_.push_back("env " + printable(variable) + ": not a setting, ignored" + advice(variable));
    }

    std::string advice(std::string_view variable) const {
        // Compares without the common prefix, which would make all names similar.
        const auto own_part = [](std::string_view name) {
            return name.substr(std::min(name.size(), prefix.size()));
        };
        if (own_part(variable).starts_with("CONFIG")) {
            return "; the settings file is named by --config";
        }
        std::vector<std::string_view> names;
        for (const auto& [name, keys] : meanings_) {
            names.push_back(own_part(name));
        }
        const std::string_view near = nearest_name(own_part(variable), names);
        return near.empty() ? "" : "; did you mean " + std::string(prefix) + std::string(near) + "?";
    }

    /// Returns nullopt if the file cannot be read.
    std::optional<std::string> content(const std::string& variable, const std::string& path) {
        std::error_code error;
        std::string text = read_file(path, ini_line_bytes_max, error);
        if (text.size() > ini_line_bytes_max) {
            error = std::make_error_code(std::errc::file_too_large);
        }
        if (error) {
            problems_.add(place_of(variable), "",
                          "cannot read " + quoted_value(path) + ": " + why_unreadable(error) +
                              "; must be the path of a file that contains the value, at most " +
                              std::to_string(ini_line_bytes_max) + " bytes");
            return std::nullopt;
        }
        if (text.ends_with('\n')) {
            text.pop_back();
        }
        return text;
    }

    void give(const std::string& variable, const SettingKey& key, std::optional<std::string> value) {
        const SettingsPlace place = place_of(variable);
        if (const auto [known, is_new] = givers_.try_emplace(key, variable); !is_new) {
            problems_.add(place, "", "sets the same setting as " + known->second + "; set only one of the two");
        } else if (value) {
            GivenSection section{.place = place, .kind = key.section};
            if (!key.name.empty()) {
                section.name = key.name;
            }
            section.entries.push_back({.place = place, .key = key.key, .value = std::move(*value)});
            source_.sections.push_back(std::move(section));
        }
    }

    Meanings meanings_;
    ProblemList& problems_;
    std::vector<std::string>& warnings_;
    SettingsSource source_{.last_wins = true};
    std::map<SettingKey, std::string> givers_;  // the variable that gave a setting
    std::size_t left_out_ = 0;
};

/// Parses `path`, the part before the equals sign. Returns what is wrong with it; "" if nothing.
std::string take_apart(std::string_view path, GivenSection& section, GivenEntry& entry) {
    const std::size_t first = path.find('.');
    if (first == std::string_view::npos) {
        section.kind = "gateway";
        entry.key = path;
        return "";
    }
    const std::size_t last = path.rfind('.');
    section.kind = path.substr(0, first);
    entry.key = path.substr(last + 1);
    if (last > first) {
        section.name = path.substr(first + 1, last - first - 1);
    }
    const SectionRow* const row = find_section(section.kind);
    if (row == nullptr) {
        return "unknown section: " + quoted_value(section.kind) + section_advice(section.kind);
    }
    if (row->named() != section.name.has_value() && row->short_key.empty()) {
        const std::string allowed = section.kind + (row->named() ? ".NAME.KEY=VALUE" : ".KEY=VALUE");
        return (row->named() ? "no name given for " + section.kind
                             : "unexpected name: " + heading(*row) + " takes no name") +
               "; must be " + allowed;
    }
    return "";
}

}  // namespace

std::string variable_name(const SettingKey& key) {
    return std::string(prefix) + upper(key.section) + "_" + (key.name.empty() ? "" : upper(key.name) + "_") +
           upper(key.key);
}

SettingsSource environment_source(const Variables& variables, const std::vector<SettingsSource>& others,
                                  ProblemList& problems, std::vector<std::string>& warnings) {
    if (variables.empty()) {
        return {};
    }
    EnvironmentReading reading(meanings_of(others), problems, warnings);
    Variables sorted = variables;
    std::sort(sorted.begin(), sorted.end());
    for (const auto& [name, value] : sorted) {
        reading.take(name, value);
    }
    return reading.finish();
}

SettingsSource assignments_source(const std::vector<std::string>& assignments, ProblemList& problems) {
    SettingsSource source{.last_wins = true};
    for (const std::string& assignment : assignments) {
        const SettingsPlace place{"--set " + printable(assignment), 0, SettingSource::command_line};
        const std::size_t sign = assignment.find('=');
        if (sign == std::string::npos || sign == 0) {
            problems.add(place, "", "not an assignment; must be SECTION.KEY=VALUE or SECTION.NAME.KEY=VALUE");
            continue;
        }
        GivenSection section{.place = place};
        GivenEntry entry{.place = place, .value = assignment.substr(sign + 1)};
        if (std::string fault = take_apart(std::string_view(assignment).substr(0, sign), section, entry);
            !fault.empty()) {
            problems.add({.place = place,
                          .key = "",
                          .what = std::move(fault),
                          .setting = printable(assignment.substr(0, sign))});
            continue;
        }
        section.entries.push_back(std::move(entry));
        source.sections.push_back(std::move(section));
    }
    return source;
}

}  // namespace telegate
