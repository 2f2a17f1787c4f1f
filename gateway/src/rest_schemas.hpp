#pragma once

#include <string_view>

namespace telegate {

/// The JSON Schemas that the table of routes names, but for that of the settings: one object, a member for each.
/// docs/rest.md says what the members mean. Threads: any.
[[nodiscard]] std::string_view rest_schemas() noexcept;

}  // namespace telegate
