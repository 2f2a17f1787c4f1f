#include "config/load.hpp"
#include "config/settings_instances.hpp"
#include "config/settings_text.hpp"
#include "support/setting_values.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using namespace telegate;

void require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

/// Every accepted value is one that the table allows.
void require_allowed(Settings& settings) {
    walk(settings, [](const SettingSpot& spot) {
        const std::string text = value_text(spot.row, spot.owner);
        require(text == spot.row.unset || !assign(spot.row, spot.owner, text));
        require(value_text(spot.row, spot.owner) == text);
    });
}

/// The settings printed as a file mean the same.
void require_printed_whole(const Settings& settings) {
    require(test::all_values(parse_settings(sample_ini(settings), "again.ini")) == test::all_values(settings));
}

/// A refusal has reasons, each of which can be printed on its own line.
void require_printable(const SettingsError& error) {
    require(!error.problems().empty());
    require(error.problems().size() <= 201);
    for (const SettingsProblem& problem : error.problems()) {
        require(!problem.what.empty());
        for (const char c : problem.text()) {
            require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
        }
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    try {
        Settings settings = parse_settings(text, "fuzz.ini");
        require(settings.publish.size() <= 16 && settings.devices.size() <= 256);
        require(settings.channels.empty() || !settings.devices.empty());
        require_allowed(settings);
        require_printed_whole(settings);
    } catch (const SettingsError& error) {
        require_printable(error);
    }
    return 0;
}
