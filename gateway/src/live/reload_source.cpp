#include "live/reload_source.hpp"

#include "config/load.hpp"
#include "settings/settings_json.hpp"

namespace telegate {

ReloadSource source_of(const SettingsSources& sources) {
    ReloadSource source;
    source.path = sources.file;
    source.load = [sources] {
        return load_settings(sources).settings;
    };
    source.hash = settings_hash;
    source.to_json = settings_json;
    source.origins = [sources](const Settings& in_force) {
        return settings_origins_json(in_force, load_settings(sources));
    };
    source.from_json = [](std::string_view text) {
        return settings_from_json(text).settings;
    };
    source.from_patch = [](const Settings& base, std::string_view patch) {
        return settings_from_patch(base, patch).settings;
    };
    source.files_stamp = [sources] {
        return files_stamp(sources);
    };
    return source;
}

}  // namespace telegate
