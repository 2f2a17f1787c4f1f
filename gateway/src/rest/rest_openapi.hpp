#pragma once

#include "http/http_message.hpp"

#include <string>
#include <string_view>

namespace telegate {

/// Returns the table of routes as an OpenAPI 3.1 document, for a client that has the role `without_credentials` without
/// a token or a certificate. Threads: any.
[[nodiscard]] std::string openapi_json(HttpRole without_credentials);
/// Returns the same as an HTML page without external resources. Threads: any.
[[nodiscard]] std::string openapi_page();

}  // namespace telegate
