#pragma once

#include "config/setting_row.hpp"

#include <span>
#include <string_view>

namespace telegate {

/// Returns every kind of section, in the order in which they are printed.
[[nodiscard]] std::span<const SectionRow> section_table() noexcept;

/// Returns every setting, grouped by section, in the order in which they are printed. This table is the only source of
/// allowed values. Keys of section "gateway" may also be given before the first section.
[[nodiscard]] std::span<const SettingRow> settings_table() noexcept;

[[nodiscard]] const SectionRow* find_section(std::string_view name) noexcept;

/// Returns the setting of this section and key that belongs to `type` or to all types; nullptr if there is none.
[[nodiscard]] const SettingRow* find_setting(std::string_view section, std::string_view key,
                                             std::string_view type = {}) noexcept;

/// Returns whether a section of this kind has the setting if it has this type.
[[nodiscard]] bool belongs(const SettingRow& row, std::string_view section, std::string_view type) noexcept;

/// Returns the types of a section that has a `type_key`.
[[nodiscard]] std::span<const std::string_view> types_of(std::string_view section) noexcept;

}  // namespace telegate
