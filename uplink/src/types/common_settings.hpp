#pragma once

#include "config/setting_row.hpp"

#include <span>

namespace telegate {

/// The settings of uplinks of all types.
[[nodiscard]] std::span<const SettingRow> common_uplink_settings() noexcept;

}  // namespace telegate
