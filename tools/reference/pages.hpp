#pragma once

#include <span>
#include <string>
#include <string_view>

/// Pages of docs/ that are partly generated. All functions throw std::runtime_error if an input is missing or lacks a
/// marker.
namespace telegate::reference {

/// Returns docs/settings.md: an introduction and a table for each section, without settings added by drivers.
[[nodiscard]] std::string settings_page();

/// Returns a table for each section to which the driver adds settings.
[[nodiscard]] std::string driver_settings(std::string_view driver);

/// Returns the names of all drivers in the order of the setting `driver`.
[[nodiscard]] std::span<const std::string_view> driver_names();

/// Returns the page of a driver with the tables of its settings between the lines <!-- settings --> and <!-- /settings
/// -->.
[[nodiscard]] std::string with_settings(std::string_view page, std::string_view driver);

/// Returns docs/rest.md with the table of routes between the lines <!-- routes --> and <!-- /routes -->.
[[nodiscard]] std::string with_routes(std::string_view page);

/// Returns `outline` with each line {{code NAME}} replaced by the lines of `source` between // [NAME and // NAME].
[[nodiscard]] std::string with_code(std::string_view outline, std::string_view source);

/// Returns gateway.ini(5), generated from the settings table.
[[nodiscard]] std::string settings_manual();

/// Returns docs/metrics.md: `page`, which ends with the header of the table, followed by the rows of the table.
[[nodiscard]] std::string with_metrics(std::string page);

}  // namespace telegate::reference
