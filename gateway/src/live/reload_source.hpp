#pragma once

#include "config/settings.hpp"
#include "config/settings_sources.hpp"
#include "status/reload_report.hpp"

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace telegate {

/// A thread of the gateway that did not answer in time.
struct LateAnswer : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Where settings come from, and their form outside.
struct ReloadSource {
    std::string path = {};                // as shown
    std::function<Settings()> load = {};  // anew; throws SettingsError. Empty: there is nothing to reload from
    std::function<std::string(const Settings&)> hash = {};     // equal for equal settings; empty: none is shown
    std::function<std::string(const Settings&)> to_json = {};  // empty, or from_json is: no GET and PUT of settings
    /// Files that settings in force name, such as tokens, read anew at each reload. Throws LateAnswer, or
    /// std::runtime_error with what is wrong with a file.
    std::function<CredentialsRead(const Settings&)> reload_files = {};
    /// Throws SettingsError, whose keys are JSON pointers.
    std::function<Settings(std::string_view text)> from_json = {};
    /// Settings after a JSON merge patch (RFC 7396). Throws as from_json.
    std::function<Settings(const Settings& base, std::string_view patch)> from_patch = {};
    /// Changes whenever a file that load() reads may have changed. Empty: nobody knows.
    std::function<std::string()> files_stamp = {};
};

/// All that a start reads from, and the JSON form.
[[nodiscard]] ReloadSource source_of(const SettingsSources& sources);

}  // namespace telegate
