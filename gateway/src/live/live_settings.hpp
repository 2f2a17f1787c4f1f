#pragma once

#include "base/worker.hpp"
#include "config/settings.hpp"
#include "config/settings_sources.hpp"
#include "core/clock.hpp"
#include "live/settings_applier.hpp"
#include "log/log.hpp"
#include "status/reload_report.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// A thread of the gateway did not respond in time, and will complete the step when it does.
struct LateAnswer : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The source of settings.
struct ReloadSource {
    std::string path = {};  // for display
    /// Reads the settings again. Throws SettingsError. Empty: there is nothing to reload from.
    std::function<LoadedSettings()> load = {};
    /// Returns a text that changes whenever a file that load() reads may have changed. Empty: unknown.
    std::function<std::string()> files_stamp = {};
    /// Reads files that the settings in force name, such as tokens, again at each reload. Throws LateAnswer, or
    /// std::runtime_error with the problem of a file.
    std::function<CredentialsRead(const Settings&)> reload_files = {};
};

/// Returns a source with everything that start-up reads.
[[nodiscard]] inline ReloadSource source_of(const SettingsSources& sources) {
    return {.path = sources.file,
            .load = [sources] { return load_settings(sources); },
            .files_stamp =
                [sources] {
                    return files_stamp(sources);
                }};
}

/// Settings that are or were in force, kept for rollback.
struct ConfigGeneration {
    std::uint64_t number = 1;  // as in /status
    std::int64_t time_utc_ns = 0;
    std::string who;
    std::string hash;               // see settings_hash()
    std::size_t changes_count = 0;  // from the previous generation
    std::shared_ptr<const Settings> settings;
};

/// Maximum number of generations in memory, including the one in force; more than a person reverts in one session. The
/// oldest is removed first.
inline constexpr std::size_t config_generations_max = 16;

/// The settings in force, which can change while the gateway runs. A change is a diff: only settings that differ are
/// touched. A change that needs a restart, has problems or cannot be applied changes nothing, except that a reload
/// applies the other changes of valid files without those that need a restart. A change can be undone by a rollback to
/// an earlier generation, and is reverted automatically if it is not confirmed in time.
///
/// Threads: any; one change at a time, others wait for their turn. Automatic reverts run on a dedicated thread, from
/// their first use until stop().
/// Limits: a change waits for other threads, see SettingsApplier; config_generations_max generations.
/// Failure: see the report. A due revert that fails, because a thread does not respond or an address is in use, is
/// tried again every revert_pause; one that can never succeed is logged, and the settings stay.
class LiveSettings {
  public:
    using Change = std::function<std::string(const SettingsApplier::Wanted&)>;
    static constexpr std::chrono::seconds revert_pause{10};
    /// Maximum age of differs_from_file(): files are checked once in this time, regardless of the number of status
    /// requests.
    static constexpr std::chrono::seconds files_age_max{1};

    /// `change` is SettingsApplier::change().
    LiveSettings(Settings in_force, ReloadSource source, Change change, Log& log);

    [[nodiscard]] ConfigGeneration in_force() const;
    [[nodiscard]] ConfigStatus status() const;
    /// Reads the sources again, without applying them. Throws SettingsError. Requires a source.
    [[nodiscard]] Settings load() const { return source_.load().settings; }

    /// Returns whether a reload or a restart would change anything, because settings were changed over REST or a file
    /// was edited. nullopt: there is no source. Reads files, so it may wait for a disk.
    [[nodiscard]] std::optional<bool> differs_from_file();
    /// Returns the generations, the oldest first and the one in force last.
    [[nodiscard]] std::vector<ConfigGeneration> generations() const;

    /// Reads the sources again and applies the settings that need no restart. A dry run only reports the changes.
    ReloadReport reload(std::string_view who, bool dry_run = false);

    struct Replacement {
        /// Derives the new settings from those in force. Throws SettingsError.
        std::function<Settings(const Settings& in_force)> make;
        /// Returns whether the settings in force, with this hash, are those that the sender has seen. Empty: not
        /// checked.
        std::function<bool(std::string_view hash)> is_based_on = {};
        bool dry_run = false;
        /// Whether the log may remove data that it would keep with the settings in force.
        bool may_remove_data = false;
        /// The previous settings are restored after this time, unless confirm() is called.
        std::optional<std::chrono::milliseconds> revert_after = {};
    };
    /// Applies settings sent by a client. The sources stay unchanged.
    ReloadReport replace(const Replacement& replacement, std::string_view who);

    /// Applies the settings of a generation like replace(); without a number, those of the generation before the one in
    /// force. nullopt: the generation is not kept.
    std::optional<ReloadReport> rollback(std::optional<std::uint64_t> generation, bool dry_run, std::string_view who,
                                         bool may_remove_data = false);
    /// Cancels a pending revert. Returns the generation of the confirmed settings; nullopt: no revert was pending.
    std::optional<std::uint64_t> confirm(std::string_view who);
    /// Stops reverting. Waits for a change in progress.
    void stop() { revert_worker_.stop(); }

  private:
    struct Revert {
        PendingRevert pending;
        std::shared_ptr<const Settings> settings;
        MonoTime at;
    };
    struct FileCheck {
        MonoTime at = MonoTime::min();
        std::uint64_t generation = 0;
        std::string stamp;
        std::optional<bool> differs;
    };

    // The caller must hold turn_.
    ReloadReport attempt(std::string_view who, bool dry_run, std::optional<std::chrono::milliseconds> revert_after,
                         const std::function<void(ReloadReport&)>& change);
    struct How {
        bool dry_run = false;
        bool may_remove_data = false;
        std::string_view who;
    };
    void change_to(const Settings& settings, const How& how, ReloadReport& report);
    [[nodiscard]] Settings apply_loaded(const Settings& settings, const How& how, ReloadReport& report);
    ReloadReport replace_in_turn(const Replacement& replacement, std::string_view who);
    void reload_files(const Settings& settings, ReloadReport& report) const;
    void put_in_force(const Settings& settings, std::size_t changes_count, std::string_view who);
    void settle(ReloadReport& report, std::optional<std::chrono::milliseconds> revert_after,
                const ConfigGeneration& before);
    [[nodiscard]] MonoTime revert_if_due();
    [[nodiscard]] MonoTime revert(const Revert& due);
    [[nodiscard]] bool files_differ() const;

    void record(const ReloadReport& report, std::string_view who);
    void log(const ReloadReport& report, std::string_view who) const;

    const ReloadSource source_;
    const Change change_;
    Log& log_;
    const SystemClock clock_;
    std::mutex turn_;                           // one change at a time
    Settings loaded_;                           // last settings from the sources that were in force; guarded by turn_
    mutable std::mutex mutex_;                  // guards the members below; never held for long
    std::deque<ConfigGeneration> generations_;  // the last one is in force
    std::optional<Revert> revert_;
    std::optional<ReloadStatus> last_reload_;
    std::mutex files_mutex_;  // guards file_check_; held while files are read
    FileCheck file_check_;
    Worker revert_worker_;
};

}  // namespace telegate
