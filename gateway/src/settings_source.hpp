#pragma once

#include "config/settings.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace telegate {

struct CommandLine;

/// Where settings come from, and their form outside.
struct SettingsSource {
    std::string path = {};                // as shown
    std::function<Settings()> load = {};  // anew; throws SettingsError. Empty: there is nothing to reload from
    std::function<std::string(const Settings&)> hash = {};     // equal for equal settings; empty: none is shown
    std::function<std::string(const Settings&)> to_json = {};  // empty, or from_json is: no GET and PUT of settings
    /// Throws SettingsError, whose keys are JSON pointers.
    std::function<Settings(std::string_view text)> from_json = {};
};

/// What the command line says, which wins over the file whenever that is read. Throws SettingsError.
void override_settings(Settings& settings, const CommandLine& command_line);

/// The file of the command line, and what the command line says.
[[nodiscard]] SettingsSource source_of(const CommandLine& command_line);

}  // namespace telegate
