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

/// Returns the setting of this section and key that belongs to `driver` or to all drivers; nullptr if there is none.
[[nodiscard]] const SettingRow* find_setting(std::string_view section, std::string_view key,
                                             std::string_view driver = {}) noexcept;

/// Returns whether a section of this kind has the setting if its device has this driver.
[[nodiscard]] bool belongs(const SettingRow& row, std::string_view section, std::string_view driver) noexcept;

}  // namespace telegate
