#pragma once

#include <string_view>

namespace telegate {

/// Returns the JSON Schemas that the table of routes names, except those of the status and of the settings: one object
/// with a member for each schema. Every object has a name and every array has `items`, because code generators require
/// both; they cannot follow a reference into a schema. docs/rest.md describes the members. Threads: any.
[[nodiscard]] std::string_view rest_schemas() noexcept;
/// Returns the schemas of the status in the same form. Threads: any.
[[nodiscard]] std::string_view rest_status_schemas() noexcept;

}  // namespace telegate
