#pragma once

#include "http/http_message.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace telegate {

class JsonObject;

/// The reason why a request failed, as RFC 9457 problem details. The type is always about:blank, so the title is the
/// reason phrase of the status code.
struct Problem {
    int status = 500;
    std::string detail;    // human-readable: what is wrong with this request and what is allowed
    std::string instance;  // the target of the request, shortened if long
};

/// Returns the RFC 9110 reason phrase of a status code that this server sends. Threads: any.
[[nodiscard]] std::string_view status_phrase(int status) noexcept;

/// Adds the members that every problem has. Threads: any.
void list_problem(JsonObject& out, const Problem& problem);
/// Returns an application/problem+json response. `more` adds further members. Bytes that are not UTF-8 are replaced, so
/// no peer data can make this throw. Threads: any.
[[nodiscard]] HttpResponse problem_response(const Problem& problem,
                                            const std::function<void(JsonObject&)>& more = nullptr);

}  // namespace telegate
