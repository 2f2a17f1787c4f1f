#include "config/load.hpp"
#include "config/settings_sources.hpp"
#include "config/settings_text.hpp"
#include "support/setting_values.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

namespace {

using namespace telegate;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

/// Each line is a variable if it begins with TELEGATE_, otherwise an assignment.
SettingsSources sources_of(const std::string& text) {
    SettingsSources sources;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t sign = line.find('=');
        if (!line.starts_with("TELEGATE_") || sign == std::string::npos) {
            sources.assignments.push_back(line);
        } else if (!line.substr(0, sign).ends_with("_FILE")) {  // it would read any existing file
            sources.environment.emplace_back(line.substr(0, sign), line.substr(sign + 1));
        }
    }
    return sources;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const LoadedSettings loaded = load_settings(sources_of(std::string(data, data + size)));
        require(loaded.settings.publish.size() <= 16 && loaded.settings.devices.size() <= 256);
        require(loaded.warnings.size() <= settings_warnings_max + 2);  // further variables, ignored files
        require(test::all_values(parse_settings(sample_ini(loaded.settings), "again.ini")) ==
                test::all_values(loaded.settings));
    } catch (const SettingsError& error) {
        require(!error.problems().empty() && error.problems().size() <= 201);
    }
    return 0;
}
