#pragma once

#include "config/setting_row.hpp"

#include <span>
#include <string_view>

namespace telegate {

/// Every kind of section, in the order in which they are printed.
[[nodiscard]] std::span<const SectionRow> section_table() noexcept;

/// Every setting, grouped by section, in the order in which they are printed. The only source of what is allowed.
/// Keys of section "gateway" may also stand before the first section.
[[nodiscard]] std::span<const SettingRow> settings_table() noexcept;

[[nodiscard]] const SectionRow* find_section(std::string_view name) noexcept;

/// The setting of this section and key that belongs to `driver` or to all drivers; nullptr when there is none.
[[nodiscard]] const SettingRow* find_setting(std::string_view section, std::string_view key,
                                             std::string_view driver = {}) noexcept;

/// Whether a section of this kind has the setting when its device has this driver.
[[nodiscard]] bool belongs(const SettingRow& row, std::string_view section, std::string_view driver) noexcept;

}  // namespace telegate
