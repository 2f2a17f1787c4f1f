#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// One request as the routes see it. The texts live as long as the call.
struct HttpRequest {
    std::string_view method;
    std::string_view path;    // percent-decoded, without the query
    std::string_view target;  // as it came
};

struct HttpResponse {
    int status = 200;
    std::string content_type;
    std::string body;
    std::vector<std::pair<std::string, std::string>> headers;  // beyond Content-Type and Content-Length
};

}  // namespace telegate
