#pragma once

#include <span>
#include <string>
#include <string_view>

/// Pages of docs/ and packaging/man/ that are partly generated. Each function returns `page` with its generated parts
/// replaced. They throw std::runtime_error if the page or another input lacks a mark.
namespace telegate::reference {

/// Replaces the lines between the lines that end with <!-- NAME --> and <!-- /NAME -->.
[[nodiscard]] std::string with_part(std::string_view page, const std::string& name, const std::string& text);

/// docs/settings.md: a table for each section, without settings added by types.
[[nodiscard]] std::string with_settings_tables(std::string_view page);

/// packaging/man/gateway.ini.5: all settings.
[[nodiscard]] std::string with_manual_settings(std::string_view page);

/// The pages of the types of a section: of "device" those of drivers.
struct TypePages {
    std::string_view section;
    std::string_view folder;  // in docs
    std::string_view common;  // a link to the settings of all types
};
[[nodiscard]] std::span<const TypePages> type_pages();

/// The page of a type: a table for each section to which it adds settings.
[[nodiscard]] std::string with_type_settings(std::string_view page, const TypePages& of, std::string_view type);

/// docs/rest.md: the table of routes.
[[nodiscard]] std::string with_routes(std::string_view page);

/// docs/metrics.md: the table of metrics.
[[nodiscard]] std::string with_metrics(std::string_view page);

/// docs/drivers.md: each part `code NAME` has the lines of `source` between // [NAME and // NAME].
[[nodiscard]] std::string with_code(std::string page, std::string_view source);

}  // namespace telegate::reference
