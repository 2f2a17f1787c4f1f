#pragma once

#include "http/http_message.hpp"

#include <string>
#include <string_view>

namespace telegate {

/// Returns the JSON Schemas that do not follow from the code that writes them, such as those of request bodies: one
/// object with a member for each schema. docs/rest.md describes the members. Threads: any.
[[nodiscard]] std::string_view rest_schemas() noexcept;

/// Returns the table of routes as an OpenAPI 3.1 document, for a client that has the role `without_credentials` without
/// a token or a certificate. Threads: any.
[[nodiscard]] std::string openapi_json(HttpRole without_credentials);
/// Returns the same as an HTML page without external resources. Threads: any.
[[nodiscard]] std::string openapi_page();

}  // namespace telegate
