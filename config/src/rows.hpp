#pragma once

#include "config/setting_slot.hpp"

#include <span>
#include <string_view>

namespace telegate {

/// The parts of the settings table, one per file. Within a section, settings are printed in the order of the rows.
[[nodiscard]] std::span<const SettingRow> gateway_rows() noexcept;   // and tags, and all sections without a name
[[nodiscard]] std::span<const SettingRow> endpoint_rows() noexcept;  // publish and services

/// Returns the defaults of a kind of section, which must not be changed. Threads: any.
[[nodiscard]] SettingOwner default_owner(std::string_view section);

}  // namespace telegate
