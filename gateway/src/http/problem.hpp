#pragma once

#include "http/http_message.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace telegate {

/// The reason why a request failed, as RFC 9457 problem details. The type is always about:blank, so the title is the
/// reason reason phrase of the status code code.
struct Problem {
    int status = 500;
    std::string detail;    // human-readable: what is wrong with this request and what is allowed
    std::string instance;  // the target of the request, shortened if long
};

/// Returns the RFC 9110 reason phrase of a status code that this server sends. Threads: any.
[[nodiscard]] std::string_view status_phrase(int status) noexcept;

/// Returns an application/problem+json response. `extensions` is an object; its members follow the standard ones. Bytes
/// that are not UTF-8 are replaced, so no peer data can make this throw. Threads: any.
[[nodiscard]] HttpResponse problem_response(const Problem& problem);
[[nodiscard]] HttpResponse problem_response(const Problem& problem, const nlohmann::ordered_json& extensions);

}  // namespace telegate
