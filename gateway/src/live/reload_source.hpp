#pragma once

#include "config/settings_sources.hpp"
#include "status/reload_report.hpp"

#include <functional>
#include <stdexcept>
#include <string>

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

}  // namespace telegate
