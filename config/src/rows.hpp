#pragma once

#include "config/setting_row.hpp"

#include <span>

namespace telegate {

/// The parts of the settings table, one file each. Their order within a section is the order in which they are printed.
[[nodiscard]] std::span<const SettingRow> gateway_rows() noexcept;  // and all other sections without a name
[[nodiscard]] std::span<const SettingRow> tags_rows() noexcept;
[[nodiscard]] std::span<const SettingRow> publish_rows() noexcept;
[[nodiscard]] std::span<const SettingRow> services_rows() noexcept;
[[nodiscard]] std::span<const SettingRow> device_rows() noexcept;      // what every device has
[[nodiscard]] std::span<const SettingRow> channel_rows() noexcept;     // what every channel has
[[nodiscard]] std::span<const SettingRow> processing_rows() noexcept;  // what becomes of its values

}  // namespace telegate
