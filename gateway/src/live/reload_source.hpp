#pragma once

#include "config/settings.hpp"
#include "config/settings_sources.hpp"
#include "status/reload_report.hpp"

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace telegate {

/// A thread of the gateway did not respond in time.
struct LateAnswer : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The source of settings, and their external form.
struct ReloadSource {
    std::string path = {};  // for display
    /// Reads the settings again. Throws SettingsError. Empty: there is nothing to reload from.
    std::function<Settings()> load = {};
    /// Returns a hash, the same for equal settings. Empty: no hash is shown.
    std::function<std::string(const Settings&)> hash = {};
    /// Converts settings to JSON. If this or from_json is empty, REST can neither GET nor PUT settings.
    std::function<std::string(const Settings&)> to_json = {};
    /// Reads the settings again and converts the origins of `in_force` to JSON. Throws SettingsError. Empty: unknown.
    std::function<std::string(const Settings& in_force)> origins = {};
    /// Reads files that the settings in force name, such as tokens, again at each reload. Throws LateAnswer, or
    /// std::runtime_error with the problem of a file.
    std::function<CredentialsRead(const Settings&)> reload_files = {};
    /// Parses settings from JSON. Throws SettingsError, whose keys are JSON pointers.
    std::function<Settings(std::string_view text)> from_json = {};
    /// Applies a JSON merge patch (RFC 7396) to settings. Throws like from_json.
    std::function<Settings(const Settings& base, std::string_view patch)> from_patch = {};
    /// Returns a text that changes whenever a file that load() reads may have changed. Empty: unknown.
    std::function<std::string()> files_stamp = {};
};

/// Returns a source with everything that start-up reads, and the JSON form.
[[nodiscard]] ReloadSource source_of(const SettingsSources& sources);

}  // namespace telegate
