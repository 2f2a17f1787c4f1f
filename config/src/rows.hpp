#pragma once

#include "config/setting_row.hpp"

#include <span>

namespace telegate {

/// The parts of the settings table, one per file. Within a section, settings are printed in the order of the rows.
[[nodiscard]] std::span<const SettingRow> gateway_rows() noexcept;  // and all other sections without a name
[[nodiscard]] std::span<const SettingRow> tags_rows() noexcept;
[[nodiscard]] std::span<const SettingRow> publish_rows() noexcept;
[[nodiscard]] std::span<const SettingRow> services_rows() noexcept;
[[nodiscard]] std::span<const SettingRow> device_rows() noexcept;      // the settings of every device
[[nodiscard]] std::span<const SettingRow> channel_rows() noexcept;     // the settings of every channel
[[nodiscard]] std::span<const SettingRow> processing_rows() noexcept;  // the processing of its values

}  // namespace telegate
