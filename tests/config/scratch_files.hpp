#pragma once

#include "config/load.hpp"
#include "config/settings_instances.hpp"
#include "config/settings_sources.hpp"
#include "support/scratch_dir.hpp"

#include <string>

namespace telegate::test {

/// Settings files in a temporary directory. `root` replaces its path in texts, so that they do not depend on it.
struct ScratchFiles : ScratchDir {
    /// Removes the path of the directory: "a.ini:1: ...".
    [[nodiscard]] std::string relative(std::string text) const {
        const std::string root = path("");
        for (std::size_t at = text.find(root); at != std::string::npos; at = text.find(root)) {
            text.erase(at, root.size());
        }
        return text;
    }

    /// Returns all problems of a load, one per line; "" if there are none.
    [[nodiscard]] std::string problems(const SettingsSources& sources) const {
        try {
            (void)load_settings(sources);
        } catch (const SettingsError& error) {
            return relative(error.what());
        }
        return "";
    }

    [[nodiscard]] std::string origin(const LoadedSettings& loaded, const SettingKey& key) const {
        std::string origin;
        Settings settings = loaded.settings;
        walk(settings, [&](const SettingSpot& spot) { origin = spot.key() == key ? spot.origin() : origin; });
        return relative(origin);
    }
};

}  // namespace telegate::test
