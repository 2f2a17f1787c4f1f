#pragma once

#include "config/settings.hpp"
#include "core/clock.hpp"
#include "live_parts.hpp"
#include "log.hpp"
#include "reload_report.hpp"
#include "reload_source.hpp"

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// The settings in force, and the way to others while the gateway runs. A change is a diff: only what is different is
/// touched. One that needs a restart, has problems or cannot be had changes nothing.
///
/// Threads: any; one change at a time, the others wait for their turn.
/// Limits:  a change waits for other threads as LiveParts says.
/// Failure: told by the report.
class LiveSettings {
  public:
    using Change = std::function<std::string(const LiveParts::Wanted&)>;

    /// `change` is LiveParts::change().
    LiveSettings(Settings in_force, ReloadSource source, Change change, Log& log);

    struct InForce {
        Settings settings;
        std::string hash;
        std::uint64_t generation = 1;
    };
    [[nodiscard]] InForce in_force() const;
    [[nodiscard]] ConfigStatus status() const;
    [[nodiscard]] const ReloadSource& source() const noexcept { return source_; }

    /// From the sources, read anew.
    ReloadReport reload(std::string_view who);

    struct Replacement {
        Settings settings;
        /// Whether those that are in force, of this hash, are the ones that the sender has seen. Empty: he does not
        /// say.
        std::function<bool(std::string_view hash)> is_based_on = {};
        bool dry_run = false;
    };
    /// By others that somebody has sent. The sources stay as they are.
    ReloadReport replace(const Replacement& replacement, std::string_view who);

  private:
    [[nodiscard]] ReloadReport change_to(const Settings& settings, bool dry_run);
    void reload_files(const Settings& settings, ReloadReport& report) const;
    void put_in_force(const Settings& settings);
    void note(const ReloadReport& report, std::string_view who);
    void log(const ReloadReport& report, std::string_view who) const;

    const ReloadSource source_;
    const Change change_;
    Log& log_;
    const SystemClock clock_;
    std::mutex turn_;           // one change at a time
    mutable std::mutex mutex_;  // guards what follows; never held for long
    Settings settings_;
    ConfigStatus status_;
};

}  // namespace telegate
