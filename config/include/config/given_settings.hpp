#pragma once

#include "config/load.hpp"
#include "config/setting_row.hpp"

#include <optional>
#include <string>
#include <vector>

namespace telegate {

/// A value that a source gives to a key, not yet parsed.
struct GivenEntry {
    SettingsPlace place = {};
    std::string shown = {};  // how problems name the key; may be "" if the place already names it
    std::string key = {};
    std::string value = {};
    std::string fault = {};  // why the value is already known to be invalid; "" if no fault is known
};

/// A section that a source gives. Several sections of one kind and name are merged.
struct GivenSection {
    SettingsPlace place = {};
    std::string shown = {};  // prefix of the missing keys in messages; "" for none
    std::string kind = {};   // "": the lines before the first section of a file
    std::optional<std::string> name = {};
    std::vector<GivenEntry> entries = {};
    std::string written = {};  // the section's name in messages, if it is not written as [kind "name"]

    /// Returns `written` or [kind "name"], for messages.
    [[nodiscard]] std::string title() const;
};

/// All settings that one source gives.
struct SettingsSource {
    std::vector<GivenSection> sections = {};
    bool last_wins = false;  // a duplicate section or key is not a problem: the last value applies
};

/// Parses the settings of the sources by the settings table; later sources override earlier ones. Throws SettingsError
/// with the problems in `found` and all further problems; `notation` is the notation of the messages.
[[nodiscard]] Settings settings_from(const std::vector<SettingsSource>& sources,
                                     std::vector<SettingsProblem> found = {}, Notation notation = Notation::text);

}  // namespace telegate
