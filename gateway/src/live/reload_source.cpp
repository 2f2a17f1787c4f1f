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
        return settings_origins_json(in_force, load_settings(sources).settings);
    };
    source.from_json = settings_from_json;
    source.from_patch = settings_from_patch;
    source.files_stamp = [sources] {
        return files_stamp(sources);
    };
    return source;
}

}  // namespace telegate
