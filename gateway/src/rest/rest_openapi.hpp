#pragma once

#include "http/http_message.hpp"

#include <string>

namespace telegate {

/// The table of routes as an OpenAPI 3.1 document, for a client that has the role `without_credentials` without a token
/// or a certificate. Threads: any.
[[nodiscard]] std::string openapi_json(HttpRole without_credentials);
/// The same as one HTML page that needs nothing from elsewhere. Threads: any.
[[nodiscard]] std::string openapi_page();
/// The same as a table in Markdown, for docs/rest.md. Threads: any.
[[nodiscard]] std::string routes_markdown();

}  // namespace telegate
