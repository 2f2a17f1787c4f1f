#pragma once

#include "config/load.hpp"
#include "config/setting_row.hpp"
#include "config/settings_sources.hpp"

#include <optional>
#include <string>
#include <vector>

namespace telegate {

/// A value that a source gives to a key, not yet understood.
struct GivenEntry {
    SettingsPlace place;
    std::string shown;  // how problems name the key; may be "" when the place says it
    std::string key;
    std::string value;
    std::string fault = {};  // what is wrong with the value already; "" when nothing is known to be
};

/// A section that a source gives. Several of one kind and name are one section to the reader.
struct GivenSection {
    SettingsPlace place;
    std::string shown;  // in front of the keys that are missing; "" for none
    std::string kind;   // "": what stands before the first section of a file
    std::optional<std::string> name;
    std::vector<GivenEntry> entries;
    std::string written = {};  // how messages name it, where it is not written as [kind "name"]

    /// `written` or [kind "name"], for messages.
    [[nodiscard]] std::string title() const;
};

/// All that one source gives.
struct SettingsSource {
    std::vector<GivenSection> sections;
    bool last_wins = false;  // a section or key that is there twice is no problem: the last value holds
};

/// Gives what the sources say its meaning by the settings table, a later source over an earlier one. Throws
/// SettingsError with the problems `found` before and all others; `notation` is what they are told in.
[[nodiscard]] LoadedSettings settings_from(const std::vector<SettingsSource>& sources,
                                           std::vector<SettingsProblem> found = {}, Notation notation = Notation::text);

}  // namespace telegate
