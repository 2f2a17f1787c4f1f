#include "live/live_settings.hpp"

#include "config/hidden_secrets.hpp"
#include "config/listen_address.hpp"
#include "config/settings_instances.hpp"
#include "config/settings_table.hpp"
#include "core/endpoint.hpp"
#include "http/http_text.hpp"
#include "log/log_line.hpp"
#include "settings/settings_json.hpp"

#include <algorithm>
#include <exception>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace telegate {
namespace {

constexpr std::string_view curve_key = "curve_secret_key_file";

/// Returns whether other machines can reach an address. A text that is not an endpoint, such as a multicast group,
/// counts as reachable; the plan refuses an endpoint that cannot be parsed.
bool is_reachable(const SettingSpot& spot, const std::string& value) {
    if (std::holds_alternative<ListenRule>(spot.row.rule)) {
        const auto listen = parse_listen_address(value);
        return listen && !is_loopback(listen->host);
    }
    const auto* const rule = std::get_if<TextRule>(&spot.row.rule);
    if (rule == nullptr || rule->prefixes.empty()) {
        return !value.empty();
    }
    const auto parsed = parse_endpoint(value);
    const auto* const endpoint = std::get_if<Endpoint>(&parsed);
    return endpoint != nullptr && endpoint->path.empty() && !is_loopback(endpoint->host);
}

bool is_protected(const SettingSpot& spot) {
    const SettingRow* const curve = find_setting(spot.row.section, curve_key);
    return curve != nullptr && !value_text(*curve, spot.owner).empty();
}

/// Returns the settings with an address on which other machines can reach the gateway without CURVE, and their values.
/// Settings that need a restart are omitted.
std::map<SettingKey, std::string> reachable_listeners(const Settings& settings) {
    Settings copy = settings;  // walk() could change it
    std::map<SettingKey, std::string> listeners;
    walk(copy, [&](const SettingSpot& spot) {
        if (holds_of(spot.row).kind() != Holds::listener || spot.row.applies == Applies::restart) {
            return;
        }
        std::string value = value_text(spot.row, spot.owner);
        if (is_reachable(spot, value) && !is_protected(spot)) {
            listeners.emplace(spot.key(), std::move(value));
        }
    });
    return listeners;
}

/// Returns why REST cannot set such an address.
std::string reachable_listener_fault(const SettingKey& key, const std::string& value) {
    const std::string curve =
        find_setting(key.section, curve_key) != nullptr ? " unless " + std::string(curve_key) + " is set" : "";
    return '"' + value + "\" is reachable from other machines: over REST must be a loopback address such as 127.0.0.1" +
           curve + "; otherwise set it in the settings file";
}

LogLine change_line(const SettingChange& change, std::string_view who) {
    LogLine line = LogLine("settings changed").add("key", key_text(change));
    if (change.kind == SettingChange::Kind::changed) {
        line.add("from", change.from).add("to", change.to);
    } else {
        line.add("kind", to_string(change.kind));
    }
    return line.add("by", who);
}

SettingsProblem problem_of(const SettingChange& change, std::string what) {
    return {{}, change.key, std::move(what), key_text(change)};
}

/// Returns problems for the changes that need a restart.
std::vector<SettingsProblem> restarts_in(const std::vector<SettingChange>& changes) {
    std::vector<SettingsProblem> problems;
    for (const SettingChange& change : changes) {
        if (change.applies == Applies::restart) {
            problems.push_back(problem_of(
                change, "needs a restart: changed from " + log_value(change.from) + " to " + log_value(change.to)));
        }
    }
    return problems;
}

/// Returns problems for the changes from `in_force` to `wanted` that can only be made in files, environment variables
/// and the command line. Values that these sources contain already, in `loaded`, are allowed.
std::vector<SettingsProblem> file_only_in(const Settings& in_force, const Settings& loaded, const Settings& wanted) {
    const std::vector<SettingChange> others = diff(loaded, wanted);
    std::vector<SettingsProblem> problems;
    for (const SettingChange& change : diff(in_force, wanted)) {
        const bool is_new = std::any_of(others.begin(), others.end(), [&](const SettingChange& other) {
            return other.applies == Applies::file && other.section == change.section && other.name == change.name;
        });
        if (change.applies == Applies::file && is_new) {
            problems.push_back(problem_of(change,
                                          "can only be set in the settings file, because it determines which program "
                                          "runs, which path is opened, or where data is sent"));
        }
    }
    const auto in_files = reachable_listeners(loaded);
    const auto now = reachable_listeners(in_force);
    const auto has = [](const auto& listeners, const auto& each) {
        const auto found = listeners.find(each.first);
        return found != listeners.end() && found->second == each.second;
    };
    for (const auto& each : reachable_listeners(wanted)) {
        if (!has(in_files, each) && !has(now, each)) {
            const auto& [key, value] = each;
            SettingChange change;
            change.section = key.section;
            change.name = key.name;
            change.key = key.key;
            problems.push_back(problem_of(change, reachable_listener_fault(key, value)));
        }
    }
    return problems;
}

ReloadReport refusal(ReloadOutcome outcome, std::string what) {
    ReloadReport report;
    report.outcome = outcome;
    report.problems.push_back({{}, "", std::move(what)});
    return report;
}

}  // namespace

bool is_refusal(ReloadOutcome outcome) noexcept {
    return outcome == ReloadOutcome::invalid || outcome == ReloadOutcome::needs_restart ||
           outcome == ReloadOutcome::failed || outcome == ReloadOutcome::conflict;
}

std::vector<std::string> keys_that_need_restart(const ReloadReport& report) {
    std::vector<std::string> keys;
    for (const auto* const changes : {&report.changes, &report.waiting}) {
        for (const SettingChange& change : *changes) {
            if (change.applies == Applies::restart) {
                keys.push_back(key_text(change));
            }
        }
    }
    return keys;
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

LiveSettings::LiveSettings(Settings in_force, ReloadSource source, Change change, Log& log)
    : source_(std::move(source)),
      change_(std::move(change)),
      log_(log),
      loaded_(std::move(in_force)),
      revert_worker_("tg-revert", [this] { return revert_if_due(); }) {
    put_in_force(loaded_, 0, "start");
}

ConfigGeneration LiveSettings::in_force() const {
    const std::lock_guard lock(mutex_);
    return generations_.back();
}

ConfigStatus LiveSettings::status() const {
    const std::lock_guard lock(mutex_);
    const ConfigGeneration& now = generations_.back();
    return {.path = source_.path,
            .hash = now.hash,
            .generation = now.number,
            .loaded_at_utc_ns = now.time_utc_ns,
            .last_reload = last_reload_,
            .revert = revert_ ? std::optional(revert_->pending) : std::nullopt};
}

std::vector<ConfigGeneration> LiveSettings::generations() const {
    const std::lock_guard lock(mutex_);
    return {generations_.begin(), generations_.end()};
}

std::optional<bool> LiveSettings::differs_from_file() {
    if (!source_.load || !source_.files_stamp) {
        return std::nullopt;
    }
    const std::lock_guard lock(files_mutex_);
    const std::uint64_t generation = in_force().number;
    const MonoTime time = clock_.mono_now();
    if (file_check_.differs && generation == file_check_.generation && time < file_check_.at + files_age_max) {
        return file_check_.differs;
    }
    file_check_.at = time;
    std::string stamp = source_.files_stamp();
    if (!file_check_.differs || generation != file_check_.generation || stamp != file_check_.stamp) {
        file_check_.differs = files_differ();
        file_check_.generation = generation;
        file_check_.stamp = std::move(stamp);
    }
    return file_check_.differs;
}

/// Returns whether the sources differ from the settings in force; sources with problems count as different.
bool LiveSettings::files_differ() const {
    try {
        return !diff(*in_force().settings, load()).empty();
    } catch (const std::runtime_error&) {
        return true;
    }
}

/// Runs `change`, turns its exceptions into the outcome, updates the pending revert, and logs the result unless it is a
/// dry run.
ReloadReport LiveSettings::attempt(std::string_view who, bool dry_run,
                                   std::optional<std::chrono::milliseconds> revert_after,
                                   const std::function<void(ReloadReport&)>& change) {
    ReloadReport report;
    const ConfigGeneration before = generations_.back();
    const auto fail = [&](ReloadOutcome outcome, std::vector<SettingsProblem> problems) {
        report.outcome = outcome;
        report.problems = std::move(problems);
    };
    try {
        change(report);
    } catch (const SettingsError& error) {
        fail(ReloadOutcome::invalid, with_json_pointers(error.problems()));
    } catch (const std::length_error& error) {
        fail(ReloadOutcome::needs_restart, {{{}, "", error.what()}});
    } catch (const std::exception& error) {
        fail(ReloadOutcome::failed, {{{}, "", error.what()}});
    }
    settle(report, revert_after, before);
    if (!dry_run) {
        record(report, who);
    }
    return report;
}

ReloadReport LiveSettings::reload(std::string_view who, bool dry_run) {
    const std::lock_guard turn(turn_);
    return attempt(who, dry_run, std::nullopt, [&](ReloadReport& report) {
        if (!source_.load) {
            throw std::runtime_error("there is no settings source to reload from");
        }
        const Settings settings = apply_loaded(load(), {dry_run, true, who}, report);
        for (SettingsProblem& problem : report.problems) {
            problem.key = problem.setting;
        }
        if (!dry_run && !is_refusal(report.outcome)) {
            reload_files(settings, report);
            loaded_ = is_refusal(report.outcome) ? loaded_ : settings;
        }
    });
}

/// Applies settings without those that need a restart, and returns them.
Settings LiveSettings::apply_loaded(const Settings& settings, const How& how, ReloadReport& report) {
    const std::shared_ptr<const Settings> before = generations_.back().settings;
    const std::vector<SettingChange> changes = diff(*before, settings);
    std::copy_if(changes.begin(), changes.end(), std::back_inserter(report.waiting),
                 [](const SettingChange& change) { return change.applies == Applies::restart; });
    if (report.waiting.empty()) {
        change_to(settings, how, report);
        return settings;
    }
    // First, because nothing of invalid settings is applied.
    (void)change_({*before, settings, changes, true, how.may_remove_data});
    Settings others = without_restarts(*before, settings);
    try {
        change_to(others, how, report);
    } catch (const SettingsError& error) {  // some of them work only together with those that need a restart
        report.outcome = ReloadOutcome::needs_restart;
        report.changes = changes;
        report.waiting.clear();
        report.problems = restarts_in(changes);
        report.problems.insert(report.problems.end(), error.problems().begin(), error.problems().end());
    }
    return others;
}

void LiveSettings::reload_files(const Settings& settings, ReloadReport& report) const {
    if (!source_.reload_files) {
        return;
    }
    std::vector<SettingsProblem> problems;
    try {
        report.credentials = source_.reload_files(settings);
        return;
    } catch (const LateAnswer& error) {  // earlier steps of the change stay
        report.problems.push_back({{}, "", error.what()});
        return;
    } catch (const SettingsError& error) {
        problems = error.problems();
    } catch (const std::runtime_error& error) {
        problems.push_back({{}, "", error.what()});
    }
    if (report.outcome == ReloadOutcome::unchanged) {
        report.outcome = ReloadOutcome::invalid;  // same as for such a file found along with other changes
    }
    report.problems.insert(report.problems.end(), problems.begin(), problems.end());
}

ReloadReport LiveSettings::replace(const Replacement& replacement, std::string_view who) {
    const std::lock_guard turn(turn_);
    return replace_in_turn(replacement, who);
}

ReloadReport LiveSettings::replace_in_turn(const Replacement& replacement, std::string_view who) {
    return attempt(who, replacement.dry_run, replacement.revert_after, [&](ReloadReport& report) {
        if (replacement.revert_after && !replacement.dry_run) {
            revert_worker_.start();  // first: if it throws, nothing has changed
        }
        const ConfigGeneration& before = generations_.back();
        // First, so that an invalid request is rejected as invalid.
        Settings wanted = replacement.make(*before.settings);
        restore_hidden(wanted, *before.settings);
        restore_hidden(wanted, loaded_);  // of sections that are not in force
        if (replacement.is_based_on && !replacement.is_based_on(before.hash)) {
            report = refusal(ReloadOutcome::conflict, "the settings in force have changed in the meantime");
            return;
        }
        report.problems = file_only_in(*before.settings, loaded_, wanted);
        if (report.problems.empty()) {
            change_to(wanted, {replacement.dry_run, replacement.may_remove_data, who}, report);
        } else {
            report.outcome = ReloadOutcome::invalid;
        }
        report.problems = with_json_pointers(std::move(report.problems));
    });
}

std::optional<ReloadReport> LiveSettings::rollback(std::optional<std::uint64_t> generation, bool dry_run,
                                                   std::string_view who, bool may_remove_data) {
    const std::lock_guard turn(turn_);
    const std::uint64_t wanted = generation.value_or(generations_.back().number - 1);
    const auto found = std::find_if(generations_.begin(), generations_.end(),
                                    [&](const ConfigGeneration& each) { return each.number == wanted; });
    if (found == generations_.end()) {
        return std::nullopt;
    }
    const std::shared_ptr<const Settings> settings = found->settings;
    return replace_in_turn(
        {.make = [&](const Settings&) { return *settings; }, .dry_run = dry_run, .may_remove_data = may_remove_data},
        who);
}

std::optional<std::uint64_t> LiveSettings::confirm(std::string_view who) {
    const std::lock_guard turn(turn_);
    const std::lock_guard lock(mutex_);
    if (!revert_) {
        return std::nullopt;
    }
    revert_.reset();
    const std::uint64_t generation = generations_.back().number;
    log_.info_each(LogLine("settings confirmed").add("generation", generation).add("by", who));
    return generation;
}

/// Updates the pending revert after a change: only a successful change starts or ends it.
void LiveSettings::settle(ReloadReport& report, std::optional<std::chrono::milliseconds> revert_after,
                          const ConfigGeneration& before) {
    const std::lock_guard lock(mutex_);
    const bool is_changed = report.outcome == ReloadOutcome::applied;
    if (is_changed || report.outcome == ReloadOutcome::unchanged) {
        if (!revert_after) {
            revert_.reset();
        } else if (is_changed || revert_) {
            revert_ = revert_.value_or(Revert{{.generation = before.number}, before.settings, {}});
            revert_->at = clock_.mono_now() + *revert_after;
            revert_->pending.at_utc_ns = clock_.utc_now_ns() + std::chrono::nanoseconds(*revert_after).count();
            revert_worker_.call_at(revert_->at);
        }
    }
    report.reverts_at_utc_ns = revert_ ? std::optional(revert_->pending.at_utc_ns) : std::nullopt;
    report.generation = generations_.back().number;
}

MonoTime LiveSettings::revert_if_due() {
    const std::lock_guard turn(turn_);
    std::optional<Revert> due;
    {
        const std::lock_guard lock(mutex_);
        due = revert_;
    }
    if (!due) {
        return MonoTime::max();
    }
    return clock_.mono_now() < due->at ? due->at : revert(*due);
}

MonoTime LiveSettings::revert(const Revert& due) {
    log_.warn_each(LogLine("settings not confirmed in time").add("to_generation", due.pending.generation));
    const ReloadOutcome outcome =
        replace_in_turn({.make = [&](const Settings&) { return *due.settings; }, .may_remove_data = true},
                        "revert_after")
            .outcome;
    if (!is_refusal(outcome)) {
        return MonoTime::max();
    }
    const std::lock_guard lock(mutex_);
    if (outcome == ReloadOutcome::failed) {
        revert_->at = clock_.mono_now() + revert_pause;
        return revert_->at;
    }
    revert_.reset();
    return MonoTime::max();
}

void LiveSettings::change_to(const Settings& settings, const How& how, ReloadReport& report) {
    const std::shared_ptr<const Settings> before = generations_.back().settings;
    report.changes = diff(*before, settings);
    report.problems = restarts_in(report.changes);
    if (!report.problems.empty()) {
        report.outcome = ReloadOutcome::needs_restart;
        return;
    }
    if (report.changes.empty()) {
        report.outcome = how.dry_run ? ReloadOutcome::planned : ReloadOutcome::unchanged;
        return;
    }
    const std::string left = change_({*before, settings, report.changes, how.dry_run, how.may_remove_data});
    if (!left.empty()) {
        report.problems.push_back({{}, "", left});
    }
    report.outcome = how.dry_run ? ReloadOutcome::planned : ReloadOutcome::applied;
    if (!how.dry_run) {
        put_in_force(settings, report.changes.size(), how.who);
    }
}

void LiveSettings::put_in_force(const Settings& settings, std::size_t changes_count, std::string_view who) {
    ConfigGeneration next;
    next.time_utc_ns = clock_.utc_now_ns();
    next.who = who;
    next.hash = settings_hash(settings);
    next.changes_count = changes_count;
    next.settings = std::make_shared<const Settings>(settings);
    const std::lock_guard lock(mutex_);
    next.number = generations_.empty() ? 1 : generations_.back().number + 1;
    generations_.push_back(std::move(next));
    if (generations_.size() > config_generations_max) {
        generations_.pop_front();
    }
}

void LiveSettings::record(const ReloadReport& report, std::string_view who) {
    log(report, who);
    ReloadStatus last;
    last.time_utc_ns = clock_.utc_now_ns();
    last.who = who;
    last.outcome = report.outcome;
    last.changes_count = report.changes.size();
    last.needs_restart = keys_that_need_restart(report);
    last.problem = report.problems.empty() ? "" : report.problems.front().text();
    last.problems_count = report.problems.size();
    const std::lock_guard lock(mutex_);
    last_reload_ = std::move(last);
}

void LiveSettings::log(const ReloadReport& report, std::string_view who) const {
    const bool is_good = report.outcome == ReloadOutcome::applied || report.outcome == ReloadOutcome::unchanged;
    if (report.outcome == ReloadOutcome::applied) {
        for (const SettingChange& change : report.changes) {
            log_.info_each(change_line(change, who));
        }
    }
    LogFields fields = LogFields()
                           .add("outcome", to_string(report.outcome))
                           .add("generation", report.generation)
                           .add("changes", report.changes.size())
                           .add("by", who);
    if (!report.waiting.empty()) {
        fields.add("needs_restart", report.waiting.size());
    }
    if (is_good) {
        if (report.credentials != CredentialsRead::none) {
            fields.add("credentials", to_string(report.credentials));
        }
        log_.info_each({"settings reloaded", fields});
    } else {
        log_.error_each({"settings not changed", fields});
    }
    for (const SettingChange& change : report.waiting) {
        log_.warn_each(LogLine("setting waits for a restart")
                           .add("key", key_text(change))
                           .add("from", change.from)
                           .add("to", change.to)
                           .add("by", who));
    }
    for (const SettingsProblem& problem : report.problems) {
        log_.warn_each(LogLine("settings").quote("problem", problem.text()).add("by", who));
    }
}

}  // namespace telegate
