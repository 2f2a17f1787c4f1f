#pragma once

#include "http/http_message.hpp"

#include <string>
#include <string_view>

namespace telegate {

/// Returns the JSON Schemas that the table of routes names, except those of the status and of the settings: one object
/// with a member for each schema. Every object has a name and every array has `items`, because code generators require
/// both; they cannot follow a reference into a schema. docs/rest.md describes the members. Threads: any.
[[nodiscard]] std::string_view rest_schemas() noexcept;
/// Returns the schemas of the status in the same form. Threads: any.
[[nodiscard]] std::string_view rest_status_schemas() noexcept;

/// Returns the table of routes as an OpenAPI 3.1 document, for a client that has the role `without_credentials` without
/// a token or a certificate. Threads: any.
[[nodiscard]] std::string openapi_json(HttpRole without_credentials);
/// Returns the same as an HTML page without external resources. Threads: any.
[[nodiscard]] std::string openapi_page();
/// Returns the same as a Markdown table for docs/rest.md. Threads: any.
[[nodiscard]] std::string routes_markdown();

}  // namespace telegate
