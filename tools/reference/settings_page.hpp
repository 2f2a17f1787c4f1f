#pragma once

#include <span>
#include <string>
#include <string_view>

namespace telegate {

/// Returns docs/settings.md: an introduction and a table for each section, without settings added by drivers.
[[nodiscard]] std::string settings_page();

/// Returns a table for each section to which the driver adds settings.
[[nodiscard]] std::string driver_settings(std::string_view driver);

/// Returns the names of all drivers in the order of the setting `driver`.
[[nodiscard]] std::span<const std::string_view> driver_names();

}  // namespace telegate
