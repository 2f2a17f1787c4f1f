#pragma once

#include "config/setting_row.hpp"

#include <string_view>

namespace telegate {

/// Returns the defaults of a kind of section, which are shared and must not be changed. Threads: any.
[[nodiscard]] SettingOwner default_owner(std::string_view section);

}  // namespace telegate
