#pragma once

#include "config/setting_row.hpp"

namespace telegate {

template <class Owner, class Value>
Owner& owner_of(const SettingOwner& owner, Value Owner::*) {
    return *std::get<Owner*>(owner);
}

/// Returns the location of a member, or of a member of a member, in its owner: slot<&DeviceSettings::autostart>,
/// slot<&DeviceSettings::host, &HostSettings::per_core>.
template <auto first, auto... rest>
SettingSlot slot(const SettingOwner& owner) {
    return &((owner_of(owner, first).*first).*....*rest);
}

}  // namespace telegate
