#pragma once

#include "config/setting_row.hpp"

#include <string_view>

namespace telegate {

/// The defaults of a kind of section, made once for all. Only to read, which any thread may.
[[nodiscard]] SettingOwner default_owner(std::string_view section);

}  // namespace telegate
