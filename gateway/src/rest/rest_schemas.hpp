#pragma once

#include <string_view>

namespace telegate {

/// The JSON Schemas that the table of routes names, except those of the status and of the settings: one object with a
/// member for each schema. Code generators need a name for every object and `items` for every array; they cannot follow
/// a reference into a schema. docs/rest.md describes the members. Threads: any.
[[nodiscard]] std::string_view rest_schemas() noexcept;
/// The same for the status. Threads: any.
[[nodiscard]] std::string_view rest_status_schemas() noexcept;

}  // namespace telegate
