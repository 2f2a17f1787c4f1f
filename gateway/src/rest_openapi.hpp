#pragma once

#include <string>

namespace telegate {

/// The table of routes as an OpenAPI 3.1 document. Threads: any.
[[nodiscard]] std::string openapi_json();
/// The same as one HTML page that needs nothing from elsewhere. Threads: any.
[[nodiscard]] std::string openapi_page();
/// The same as a table in Markdown, for docs/rest.md. Threads: any.
[[nodiscard]] std::string routes_markdown();

}  // namespace telegate
