#pragma once

#include "config/setting_row.hpp"

#include <span>
#include <string_view>

namespace telegate {

/// The parts of the settings table, one per file. Within a section, settings are printed in the order of the rows.
[[nodiscard]] std::span<const SettingRow> gateway_rows() noexcept;   // and tags, and all sections without a name
[[nodiscard]] std::span<const SettingRow> endpoint_rows() noexcept;  // publish and services
[[nodiscard]] std::span<const SettingRow> uplink_rows() noexcept;
[[nodiscard]] std::span<const SettingRow> device_rows() noexcept;   // the settings of every device
[[nodiscard]] std::span<const SettingRow> channel_rows() noexcept;  // the settings of every channel

template <class Owner, class Value>
Owner& owner_of(const SettingOwner& owner, Value Owner::*) {
    return *std::get<Owner*>(owner);
}

/// Returns the location of a member, or of a member of a member, in its owner: slot<&DeviceSettings::autostart>,
/// slot<&Settings::rest, &RestSettings::unix_socket>.
template <auto first, auto... rest>
SettingSlot slot(const SettingOwner& owner) {
    return &((owner_of(owner, first).*first).*....*rest);
}

/// Returns the defaults of a kind of section, which must not be changed. Threads: any; each has its own, because slots
/// of drivers create the settings that they return.
[[nodiscard]] SettingOwner default_owner(std::string_view section);

}  // namespace telegate
