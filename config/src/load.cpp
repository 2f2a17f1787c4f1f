#include "config/load.hpp"

#include "channel_tables.hpp"
#include "config/given_settings.hpp"
#include "config/settings_sources.hpp"
#include "config/settings_table.hpp"
#include "environment.hpp"
#include "ini_text.hpp"
#include "problem_list.hpp"
#include "settings_builder.hpp"
#include "settings_files.hpp"
#include "templates.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace telegate {
namespace {

std::string joined_texts(const std::vector<SettingsProblem>& problems) {
    std::string text;
    for (const SettingsProblem& problem : problems) {
        text += (text.empty() ? "" : "\n") + problem.text();
    }
    return text;
}

const SettingRow& log_level_row() {
    return *find_setting("gateway", "log_level");
}

const SectionRow* short_row(const GivenSection& section) {
    const SectionRow* const row = section.name ? nullptr : find_section(section.kind);
    return row == nullptr || row->short_key.empty() ? nullptr : row;
}

/// Replaces each section that is short for several (SectionRow::short_key): [tags] with `site = north` becomes [tags
/// "site"] with `value = north`.
void expand_short_sections(SettingsSource& source) {
    std::vector<GivenSection> expanded;
    for (GivenSection& section : source.sections) {
        const SectionRow* const row = short_row(section);
        if (row == nullptr) {
            expanded.push_back(std::move(section));
            continue;
        }
        for (GivenEntry& entry : section.entries) {
            GivenSection& whole = expanded.emplace_back();
            whole.place = entry.place;
            whole.shown = entry.shown;
            whole.kind = section.kind;
            whole.name = std::exchange(entry.key, std::string(row->short_key));
            whole.entries.push_back(std::move(entry));
        }
    }
    source.sections = std::move(expanded);
}

/// Reads all sources, then parses their settings.
///
/// Threads: one.
/// Limits: ini_text_bytes_max per file, drop_ins_max drop-ins.
/// Failure: load() throws SettingsError.
class Loading {
  public:
    explicit Loading(const SettingsSources& from) : from_(from), problems_(from.file) {}

    LoadedSettings load() {
        if (!from_.file.empty()) {
            read(from_.file);
        }
        read_drop_ins();
        if (!readable_) {
            problems_.throw_if_any({}, error_);
        }
        sources_.push_back(assignments_source(from_.assignments, problems_));
        expand();
        // Variables can refer to the sections of files and options, so they are read last but rank between the two.
        SettingsSource environment = environment_source(from_.environment, sources_, problems_, warnings_);
        const auto options =
            std::find_if(sources_.begin(), sources_.end(), [](const SettingsSource& each) { return each.last_wins; });
        sources_.insert(options, std::move(environment));
        add_log_level();
        return {understand(), std::move(warnings_)};
    }

    /// Parses `text` as the content of the settings file, without other sources.
    Settings parse(std::string_view text) {
        take(text, from_.file);
        expand();
        return understand();
    }

  private:
    void take(std::string_view text, const std::string& file) {
        if (auto sections = read_ini(text, file, problems_)) {
            sources_.push_back({.sections = std::move(*sections)});
        } else {
            readable_ = false;
        }
    }

    /// Expands short sections and templates.
    void expand() {
        std::for_each(sources_.begin(), sources_.end(), expand_short_sections);
        sources_ = expand_templates(std::move(sources_), problems_);
    }

    Settings understand() {
        sources_.insert(sources_.begin(), read_channel_tables(sources_, from_.file, problems_));
        Settings settings = build_settings(sources_, Notation::text, problems_);
        problems_.throw_if_any(settings);
        return settings;
    }

    void complain(const std::string& file, std::error_code error) {
        problems_.add({file, 0}, "", "cannot be read: " + why_unreadable(error));
        error_ = error_ ? error_ : error;
        readable_ = false;
    }

    void read(const std::string& file) {
        std::error_code error;
        const std::string text = read_file(file, ini_text_bytes_max, error);
        if (error) {
            complain(file, error);
        } else {
            take(text, file);
        }
    }

    void read_drop_ins() {
        const bool is_named = !from_.drop_in_folder.empty();
        if (!is_named && (from_.file.empty() || error_)) {
            return;
        }
        const std::string folder = is_named ? from_.drop_in_folder : drop_in_folder_beside(from_.file);
        std::error_code error;
        const auto [files, ignored] = drop_ins_in(folder, !is_named, error);
        if (error) {
            complain(folder, error);
        } else if (files.size() > drop_ins_max) {
            problems_.add({folder, 0}, "",
                          "too many files: " + std::to_string(files.size()) + " *.ini files; must be at most " +
                              std::to_string(drop_ins_max));
            readable_ = false;
        } else {
            std::for_each(files.begin(), files.end(), [&](const std::string& file) { read(file); });
            if (!ignored.empty()) {
                const std::string more =
                    ignored.size() == 1 ? "" : " and " + std::to_string(ignored.size() - 1) + " more";
                warnings_.push_back(printable(ignored.front()) + more + ": ignored: the name must end in .ini");
            }
        }
    }

    void add_log_level() {
        if (!from_.log_level.empty()) {
            const SettingsPlace place{"--log-level", 0, SettingSource::command_line};
            GivenSection section{.place = place, .kind = "gateway"};
            section.entries.push_back({.place = place, .key = "log_level", .value = from_.log_level});
            sources_.push_back({.sections = {std::move(section)}, .last_wins = true});
        }
    }

    const SettingsSources& from_;
    ProblemList problems_;
    std::vector<SettingsSource> sources_;
    std::vector<std::string> warnings_;
    std::error_code error_;  // the first one
    bool readable_ = true;
};

}  // namespace

std::string SettingsPlace::text() const {
    return (source == SettingSource::environment ? "env " : "") + printable(name) +
           (line > 0 ? ':' + std::to_string(line) : "");
}

std::string SettingsProblem::text() const {
    std::string text = place.text();
    if (!key.empty()) {
        text += (text.empty() ? "" : ": ") + key;
    }
    return text + (text.empty() ? "" : ": ") + what;
}

const SettingsPlaces& Settings::places_of(std::string_view section) const {
    static const SettingsPlaces none;
    const auto found = places.find(section);
    return found == places.end() ? none : found->second;
}

void sort_problems(std::vector<SettingsProblem>& problems, const std::string& file) {
    const auto rank = [&](const SettingsProblem& problem) {
        const SettingsPlace& place = problem.place;
        const bool is_other_file = place.source == SettingSource::file && place.name != file;
        // Line 0 means no line and sorts last.
        return std::tuple(place.source, is_other_file,
                          is_other_file ? std::string_view(place.name) : std::string_view(), place.line - 1);
    };
    std::stable_sort(problems.begin(), problems.end(),
                     [&](const SettingsProblem& a, const SettingsProblem& b) { return rank(a) < rank(b); });
}

SettingsError::SettingsError(std::vector<SettingsProblem> problems, Settings understood, std::error_code unreadable)
    : std::runtime_error(joined_texts(problems)),
      problems_(std::move(problems)),
      understood_(std::move(understood)),
      unreadable_(unreadable) {}

LoadedSettings load_settings(const SettingsSources& sources) {
    return Loading(sources).load();
}

Settings parse_settings(std::string_view text, const std::string& file) {
    const SettingsSources sources{.file = file};
    return Loading(sources).parse(text);
}

bool is_log_level(std::string_view text) {
    Settings scratch;
    return !assign(log_level_row(), &scratch, text);
}

std::string log_level_choices() {
    return allowed_text(log_level_row());
}

}  // namespace telegate
