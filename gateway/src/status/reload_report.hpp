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

/// What became of other settings. Except with `applied` nothing was changed.
enum class ReloadOutcome : std::uint8_t {
    applied,
    unchanged,      // they are those in force
    planned,        // asked only what would change
    invalid,        // the settings have problems
    needs_restart,  // a setting that a running gateway cannot change, or no more room for names
    failed,         // an address is taken, a thread did not answer
    conflict,       // they were made from settings that are not in force any more
};
[[nodiscard]] std::string_view to_string(ReloadOutcome outcome) noexcept;
/// Whether it was to change something and could not.
[[nodiscard]] bool is_refusal(ReloadOutcome outcome) noexcept;

/// What a reload found in the files of tokens, keys and certificates.
enum class CredentialsRead : std::uint8_t {
    none,     // there are none, or none were read
    same,     // they hold what they held
    changed,  // they hold something else, which is in force
};
[[nodiscard]] std::string_view to_string(CredentialsRead read) noexcept;

struct ReloadReport {
    ReloadOutcome outcome = ReloadOutcome::unchanged;
    std::uint64_t generation = 0;  // of the settings that are in force afterwards
    std::vector<SettingChange> changes;
    std::vector<SettingsProblem> problems;  // with `applied`: what comes later than the rest
    CredentialsRead credentials = CredentialsRead::none;
    std::optional<std::int64_t> reverts_at_utc_ns = {};  // unless the settings in force are confirmed before
};

/// The last reload as /status shows it.
struct ReloadStatus {
    std::int64_t time_utc_ns = 0;
    std::string who;
    ReloadOutcome outcome = ReloadOutcome::unchanged;
    std::size_t changes_count = 0;
    std::string problem;  // the first one; "" for none
    std::size_t problems_count = 0;
};

/// What happens to the settings in force unless they are confirmed in time.
struct PendingRevert {
    std::uint64_t generation = 0;  // whose settings come back
    std::int64_t at_utc_ns = 0;
};

/// The settings in force, as /status shows them.
struct ConfigStatus {
    std::string path;
    std::string hash;
    std::uint64_t generation = 1;  // raised whenever they change
    std::int64_t loaded_at_utc_ns = 0;
    std::optional<ReloadStatus> last_reload;
    std::optional<PendingRevert> revert = {};
    std::optional<bool> differs_from_file = {};  // whether a reload would change something; nullopt: unknown
};

}  // namespace telegate
