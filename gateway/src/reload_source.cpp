#include "reload_source.hpp"

#include "config/load.hpp"
#include "settings_json.hpp"

namespace telegate {

ReloadSource source_of(const SettingsSources& sources) {
    ReloadSource source;
    source.path = sources.file;
    source.load = [sources] {
        return load_settings(sources).settings;
    };
    source.hash = settings_hash;
    source.to_json = settings_json;
    source.from_json = [](std::string_view text) {
        return settings_from_json(text).settings;
    };
    return source;
}

}  // namespace telegate
