#pragma once

#include "base/timer_thread.hpp"
#include "config/settings.hpp"
#include "core/clock.hpp"
#include "live/config_generations.hpp"
#include "live/reload_source.hpp"
#include "live/settings_applier.hpp"
#include "log/log.hpp"
#include "status/reload_report.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The settings in force, and the way to others while the gateway runs. A change is a diff: only what is different is
/// touched. One that needs a restart, has problems or cannot be had changes nothing. A change can be undone: by a
/// rollback to an earlier generation, or by itself unless it is confirmed in time.
///
/// Threads: any; one change at a time, the others wait for their turn. What undoes a change by itself has a thread of
///          its own, from the first time that it is wanted to stop().
/// Limits:  a change waits for other threads as SettingsApplier says; config_generations_max generations.
/// Failure: told by the report. A change that cannot be undone when it is due, since a thread does not respond or an
///          address is taken, is tried again every revert_pause; one that never can be is logged and stays.
class LiveSettings {
  public:
    using Change = std::function<std::string(const SettingsApplier::Wanted&)>;
    static constexpr std::chrono::seconds revert_pause{10};
    /// How old differs_from_file() may be: files are looked at once in this time, however many request the status.
    static constexpr std::chrono::seconds files_age_max{1};

    /// `change` is SettingsApplier::change().
    LiveSettings(Settings in_force, ReloadSource source, Change change, Log& log);

    struct InForce {
        Settings settings;
        std::string hash;
        std::uint64_t generation = 1;
    };
    [[nodiscard]] InForce in_force() const;
    [[nodiscard]] ConfigStatus status() const;
    [[nodiscard]] const ReloadSource& source() const noexcept { return source_; }

    /// Whether a reload or a restart would change something, because settings were changed over REST or a file was
    /// edited. nullopt: there is no source. Reads files, so it may wait for a disk.
    [[nodiscard]] std::optional<bool> differs_from_file();
    /// The oldest first, the one in force last.
    [[nodiscard]] std::vector<ConfigGeneration> generations() const;

    /// From the sources, read anew. A dry run says what would change.
    ReloadReport reload(std::string_view who, bool dry_run = false);

    struct Replacement {
        Settings settings;
        /// Whether those that are in force, of this hash, are the ones that the sender has seen. Empty: he does not
        /// say.
        std::function<bool(std::string_view hash)> is_based_on = {};
        bool dry_run = false;
        /// In place of `settings`: makes them of those that are in force. Throws SettingsError.
        std::function<Settings(const Settings& in_force)> make = {};
        /// The settings that were in force before come back after this time, unless confirm() is called.
        std::optional<std::chrono::milliseconds> revert_after = {};
    };
    /// By others that somebody has sent. The sources stay as they are.
    ReloadReport replace(const Replacement& replacement, std::string_view who);

    /// By those of a generation, as replace() does; without a number the one before that in force. nullopt: it is not
    /// kept.
    std::optional<ReloadReport> rollback(std::optional<std::uint64_t> generation, bool dry_run, std::string_view who);
    /// Keeps settings that were to be reverted. Returns their generation; nullopt when none were to be.
    std::optional<std::uint64_t> confirm(std::string_view who);
    /// Reverts nothing any more. Waits for a change that has begun.
    void stop() { revert_timer_.stop(); }

  private:
    struct Revert {
        std::uint64_t generation = 0;
        std::shared_ptr<const Settings> settings;
        MonoTime at;
        std::int64_t at_utc_ns = 0;
    };
    struct FileCheck {
        MonoTime at = MonoTime::min();
        std::uint64_t generation = 0;
        std::string stamp;
        std::optional<bool> differs;
    };

    // Each for the one that has the turn.
    [[nodiscard]] ReloadReport change_to(const Settings& settings, bool dry_run, std::string_view who);
    ReloadReport replace_in_turn(const Replacement& replacement, std::string_view who);
    void reload_files(const Settings& settings, ReloadReport& report) const;
    void put_in_force(const Settings& settings, std::size_t changes_count, std::string_view who);
    void settle(ReloadReport& report, std::optional<std::chrono::milliseconds> revert_after,
                const ConfigGeneration& before);
    [[nodiscard]] MonoTime revert_if_due();
    [[nodiscard]] MonoTime revert(const Revert& due);
    [[nodiscard]] const Settings& now() const { return *generations_.back().settings; }
    [[nodiscard]] bool files_differ() const;

    void note(const ReloadReport& report, std::string_view who);
    void log(const ReloadReport& report, std::string_view who) const;

    const ReloadSource source_;
    const Change change_;
    Log& log_;
    const SystemClock clock_;
    std::mutex turn_;                           // one change at a time
    Settings loaded_;                           // from the sources, when they were last put in force; guarded by turn_
    mutable std::mutex mutex_;                  // guards what follows; never held for long
    std::deque<ConfigGeneration> generations_;  // the last one is in force
    std::optional<Revert> revert_;
    ConfigStatus status_;
    std::mutex files_mutex_;  // guards file_check_; held while files are read
    FileCheck file_check_;
    TimerThread revert_timer_;
};

}  // namespace telegate
