#pragma once

#include "config/load.hpp"
#include "config/settings_diff.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// The result of a change of settings. Only `applied` changes anything.
enum class ReloadOutcome : std::uint8_t {
    applied,
    unchanged,      // equal to the settings in force
    planned,        // dry run: only reports what would change
    invalid,        // the settings have problems
    needs_restart,  // a setting that requires a restart, or the name table is full
    failed,         // an address is in use, or a thread did not respond
    conflict,       // based on settings that are no longer in force
};
[[nodiscard]] std::string_view to_string(ReloadOutcome outcome) noexcept;
/// Returns whether a requested change was not made.
[[nodiscard]] bool is_refusal(ReloadOutcome outcome) noexcept;

/// The result of reloading the files of tokens, keys and certificates.
enum class CredentialsRead : std::uint8_t {
    none,     // there are none, or they were not read
    same,     // unchanged
    changed,  // changed; the new content is in force
};
[[nodiscard]] std::string_view to_string(CredentialsRead read) noexcept;

struct ReloadReport {
    ReloadOutcome outcome = ReloadOutcome::unchanged;
    std::uint64_t generation = 0;             // of the settings in force after the reload
    std::vector<SettingChange> changes;       // that are made or refused
    std::vector<SettingChange> waiting = {};  // changes in the files that the next restart applies
    std::vector<SettingsProblem> problems;    // with `applied`: problems that occurred while applying
    CredentialsRead credentials = CredentialsRead::none;
    std::optional<std::int64_t> reverts_at_utc_ns = {};  // unless the settings in force are confirmed before
};

/// Returns the settings that only a restart can change.
[[nodiscard]] std::vector<std::string> keys_that_need_restart(const ReloadReport& report);

/// The last reload as /status shows it.
struct ReloadStatus {
    std::int64_t time_utc_ns = 0;
    std::string who;
    ReloadOutcome outcome = ReloadOutcome::unchanged;
    std::size_t changes_count = 0;
    std::string problem;  // the first one; "" if there is none
    std::size_t problems_count = 0;
    std::vector<std::string> needs_restart = {};  // the settings whose changes wait for a restart
};

/// The revert that happens unless the settings in force are confirmed in time.
struct PendingRevert {
    std::uint64_t generation = 0;  // of the settings that are restored
    std::int64_t at_utc_ns = 0;
};

/// The settings in force, as /status shows them.
struct ConfigStatus {
    std::string path;
    std::string hash;
    std::uint64_t generation = 1;  // incremented by each change
    std::int64_t loaded_at_utc_ns = 0;
    std::optional<ReloadStatus> last_reload;
    std::optional<PendingRevert> revert = {};
    std::optional<bool> differs_from_file = {};  // whether a reload would change something; nullopt: unknown
};

}  // namespace telegate
