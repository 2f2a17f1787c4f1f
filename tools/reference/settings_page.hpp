#pragma once

#include <span>
#include <string>
#include <string_view>

namespace telegate {

/// docs/settings.md: how settings are given, and a table of each section, without what drivers add to it.
[[nodiscard]] std::string settings_page();

/// What a driver adds to the sections, a table for each.
[[nodiscard]] std::string driver_settings(std::string_view driver);

/// All drivers, as the setting `driver` has them.
[[nodiscard]] std::span<const std::string_view> driver_names();

}  // namespace telegate
