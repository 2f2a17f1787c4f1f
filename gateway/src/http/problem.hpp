#pragma once

#include "http/http_message.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace telegate {

/// What went wrong with one request, as RFC 9457 wants it told. The type is always about:blank, so the title is the
/// phrase of the status.
struct Problem {
    int status = 500;
    std::string detail;    // for a person: what is wrong with this request and what would be right
    std::string instance;  // the target of the request; shortened when long
};

/// The phrase of RFC 9110 for the codes that this server sends. Threads: any.
[[nodiscard]] std::string_view status_phrase(int status) noexcept;

/// An application/problem+json response. `extensions` is an object; its members follow the standard ones.
/// Threads: any. Bytes that are not UTF-8 are replaced, so nothing a peer sends can make it throw.
[[nodiscard]] HttpResponse problem_response(const Problem& problem);
[[nodiscard]] HttpResponse problem_response(const Problem& problem, const nlohmann::ordered_json& extensions);

}  // namespace telegate
