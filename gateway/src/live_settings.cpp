#include "live_settings.hpp"

#include "log_value.hpp"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <utility>

namespace telegate {
namespace {

std::string change_line(const SettingChange& change, std::string_view who) {
    std::string line = "settings changed key=" + key_text(change);
    if (change.kind == SettingChange::Kind::changed) {
        line += " from=" + log_value(change.from) + " to=" + log_value(change.to);
    } else {
        line += " kind=" + std::string(to_string(change.kind));
    }
    return line + " who=" + log_value(who);
}

/// Those of the changes that only a start can make.
std::vector<SettingsProblem> restarts_in(const std::vector<SettingChange>& changes) {
    std::vector<SettingsProblem> problems;
    for (const SettingChange& change : changes) {
        if (change.applies == Applies::restart) {
            problems.push_back({"", 0, key_text(change),
                                "takes a restart, from " + log_value(change.from) + " to " + log_value(change.to)});
        }
    }
    return problems;
}

/// Those of the changes that only the files, the variables and the command line can make.
std::vector<SettingsProblem> file_only_in(const std::vector<SettingChange>& changes) {
    std::vector<SettingsProblem> problems;
    for (const SettingChange& change : changes) {
        if (change.applies == Applies::file) {
            problems.push_back({"", 0, key_text(change),
                                "can only be set in the settings file, because it runs a program or opens a path"});
        }
    }
    return problems;
}

ReloadReport refusal(ReloadOutcome outcome, std::string what) {
    ReloadReport report;
    report.outcome = outcome;
    report.problems.push_back({"", 0, "", std::move(what)});
    return report;
}

}  // namespace

bool is_refusal(ReloadOutcome outcome) noexcept {
    return outcome == ReloadOutcome::invalid || outcome == ReloadOutcome::needs_restart ||
           outcome == ReloadOutcome::failed || outcome == ReloadOutcome::conflict;
}

std::string_view to_string(ReloadOutcome outcome) noexcept {
    switch (outcome) {
        case ReloadOutcome::applied: return "applied";
        case ReloadOutcome::unchanged: return "unchanged";
        case ReloadOutcome::planned: return "planned";
        case ReloadOutcome::invalid: return "invalid";
        case ReloadOutcome::needs_restart: return "needs_restart";
        case ReloadOutcome::failed: return "failed";
        case ReloadOutcome::conflict: return "conflict";
    }
    return "";
}

std::string_view to_string(CredentialsRead read) noexcept {
    switch (read) {
        case CredentialsRead::none: return "none";
        case CredentialsRead::same: return "same";
        case CredentialsRead::changed: return "changed";
    }
    return "";
}

std::string problem_text(const SettingsProblem& problem) {
    if (!problem.file.empty()) {
        return problem.text();
    }
    return problem.key.empty() ? problem.what : problem.key + ": " + problem.what;
}

LiveSettings::LiveSettings(Settings in_force, ReloadSource source, Change change, Log& log)
    : source_(std::move(source)), change_(std::move(change)), log_(log), settings_(std::move(in_force)) {
    status_.path = source_.path;
    status_.loaded_at_utc_ns = clock_.utc_now_ns();
    status_.hash = source_.hash ? source_.hash(settings_) : "";
}

LiveSettings::InForce LiveSettings::in_force() const {
    const std::lock_guard lock(mutex_);
    return {settings_, status_.hash, status_.generation};
}

ConfigStatus LiveSettings::status() const {
    const std::lock_guard lock(mutex_);
    return status_;
}

ReloadReport LiveSettings::reload(std::string_view who) {
    const std::lock_guard turn(turn_);
    ReloadReport report;
    try {
        if (!source_.load) {
            throw std::runtime_error("there is nothing to reload settings from");
        }
        const Settings settings = source_.load();
        report = change_to(settings, false);
        reload_files(settings, report);
    } catch (const SettingsError& error) {
        report.outcome = ReloadOutcome::invalid;
        report.problems = error.problems();
    } catch (const std::exception& error) {
        report = refusal(ReloadOutcome::failed, error.what());
    }
    report.generation = status().generation;
    note(report, who);
    return report;
}

void LiveSettings::reload_files(const Settings& settings, ReloadReport& report) const {
    if (!source_.reload_files || is_refusal(report.outcome)) {
        return;
    }
    try {
        report.credentials = source_.reload_files(settings);
    } catch (const LateAnswer&) {
        throw;
    } catch (const SettingsError& error) {
        if (report.outcome == ReloadOutcome::unchanged) {
            throw;
        }
        report.problems.insert(report.problems.end(), error.problems().begin(), error.problems().end());
    } catch (const std::runtime_error& error) {
        if (report.outcome == ReloadOutcome::unchanged) {
            report.outcome = ReloadOutcome::invalid;  // as when such a file is found beside other changes
        }
        report.problems.push_back({"", 0, "", error.what()});
    }
}

ReloadReport LiveSettings::replace(const Replacement& replacement, std::string_view who) {
    const std::lock_guard turn(turn_);
    ReloadReport report;
    if (replacement.is_based_on && !replacement.is_based_on(in_force().hash)) {
        report = refusal(ReloadOutcome::conflict, "other settings are in force by now");
    } else if (report.problems = file_only_in(diff(settings_, replacement.settings)); !report.problems.empty()) {
        report.outcome = ReloadOutcome::invalid;
    } else {
        report = change_to(replacement.settings, replacement.dry_run);
    }
    report.generation = status().generation;
    if (!replacement.dry_run) {
        note(report, who);
    }
    return report;
}

ReloadReport LiveSettings::change_to(const Settings& settings, bool dry_run) {
    ReloadReport report;
    // Only who has the turn writes it.
    report.changes = diff(settings_, settings);
    report.problems = restarts_in(report.changes);
    if (!report.problems.empty()) {
        report.outcome = ReloadOutcome::needs_restart;
        return report;
    }
    if (report.changes.empty()) {
        report.outcome = dry_run ? ReloadOutcome::planned : ReloadOutcome::unchanged;
        return report;
    }
    try {
        const std::string left = change_({settings_, settings, report.changes, dry_run});
        report.outcome = dry_run ? ReloadOutcome::planned : ReloadOutcome::applied;
        if (!left.empty()) {
            report.problems.push_back({"", 0, "", left});
        }
    } catch (const SettingsError& error) {
        report.outcome = ReloadOutcome::invalid;
        report.problems = error.problems();
    } catch (const std::length_error& error) {
        report.outcome = ReloadOutcome::needs_restart;
        report.problems.push_back({"", 0, "", error.what()});
    } catch (const std::exception& error) {
        report.outcome = ReloadOutcome::failed;
        report.problems.push_back({"", 0, "", error.what()});
    }
    if (report.outcome == ReloadOutcome::applied) {
        put_in_force(settings);
    }
    return report;
}

void LiveSettings::put_in_force(const Settings& settings) {
    const std::string hash = source_.hash ? source_.hash(settings) : "";
    const std::lock_guard lock(mutex_);
    settings_ = settings;
    status_.hash = hash;
    ++status_.generation;
    status_.loaded_at_utc_ns = clock_.utc_now_ns();
}

void LiveSettings::note(const ReloadReport& report, std::string_view who) {
    log(report, who);
    ReloadStatus last;
    last.time_utc_ns = clock_.utc_now_ns();
    last.who = who;
    last.outcome = report.outcome;
    last.changes_count = report.changes.size();
    last.problem = report.problems.empty() ? "" : problem_text(report.problems.front());
    last.problems_count = report.problems.size();
    const std::lock_guard lock(mutex_);
    status_.last_reload = std::move(last);
}

void LiveSettings::log(const ReloadReport& report, std::string_view who) const {
    const std::string by = " who=" + log_value(who);
    const bool is_good = report.outcome == ReloadOutcome::applied || report.outcome == ReloadOutcome::unchanged;
    if (report.outcome == ReloadOutcome::applied) {
        for (const SettingChange& change : report.changes) {
            log_.info_each(change_line(change, who));
        }
    }
    const std::string line = "outcome=" + std::string(to_string(report.outcome)) +
                             " generation=" + std::to_string(report.generation) +
                             " changes=" + std::to_string(report.changes.size()) + by;
    if (is_good) {
        const bool has_read = report.credentials != CredentialsRead::none;
        log_.info_each("settings reloaded " + line +
                       (has_read ? " credentials=" + std::string(to_string(report.credentials)) : ""));
    } else {
        log_.error_each("settings not changed " + line);
    }
    for (const SettingsProblem& problem : report.problems) {
        log_.warn_each("settings problem=" + log_quoted(problem_text(problem)) + by);
    }
}

}  // namespace telegate
