#include "settings_source.hpp"

#include "command_line.hpp"
#include "config/load.hpp"

namespace telegate {

void override_settings(Settings& settings, const CommandLine& command_line) {
    if (!command_line.log_level.empty()) {
        override_log_level(settings, command_line.log_level, "--log-level");
    }
}

SettingsSource source_of(const CommandLine& command_line) {
    SettingsSource source;
    source.path = command_line.config_path;
    source.load = [command_line] {
        Settings settings = load_settings(command_line.config_path);
        override_settings(settings, command_line);
        return settings;
    };
    return source;
}

}  // namespace telegate
