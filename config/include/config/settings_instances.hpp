#pragma once

#include "config/setting_row.hpp"
#include "config/settings_sources.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// One section of a Settings value.
struct SectionInstance {
    std::string name;       // "" if the kind has no names
    std::string_view type;  // of the device, of the channel's device, or of the uplink; "" for other sections
    SettingOwner owner;
};

/// Returns all sections of this kind, in order; for a kind without names, its only one. The result is valid until a
/// section is added or removed, or a type changes.
[[nodiscard]] std::vector<SectionInstance> instances_of(Settings& settings, std::string_view section);

/// Appends a section of this kind. A kind without names always has its only one, which is returned.
[[nodiscard]] SettingOwner add_instance(Settings& settings, std::string_view section, const std::string& name);

/// Returns which names a section may have, for messages.
[[nodiscard]] std::string allowed_name(const SectionRow& section);
/// Like allowed_name(), as a regular expression.
[[nodiscard]] std::string name_pattern(const SectionRow& section);
[[nodiscard]] bool is_name_allowed(const SectionRow& section, std::string_view name) noexcept;

/// One setting of a Settings value: its row in the table, and where its value is stored.
struct SettingSpot {
    const SettingRow& row;
    const std::string& name;  // of the instance; "" if the section has none
    SettingOwner owner;

    [[nodiscard]] SettingKey key() const { return {std::string(row.section), name, std::string(row.key)}; }
    /// Returns where the value was given; nullopt if it was not.
    [[nodiscard]] std::optional<SettingsPlace> place() const;
    /// Like place(), as a text: "FILE:LINE", "env TELEGATE_X", "--set" or "--log-level"; "default" if it was
    /// not.
    [[nodiscard]] std::string origin() const;
};

/// Calls `visit` for every setting, in the order of the table and of the instances. Settings of
/// other types than that of the section are omitted.
void walk(Settings& settings, const std::function<void(const SettingSpot&)>& visit);

}  // namespace telegate
