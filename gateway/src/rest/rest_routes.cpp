#include "rest/rest_routes.hpp"

#include "base/readable_bytes.hpp"
#include "config/joined.hpp"
#include "http/http_text.hpp"
#include "http/problem.hpp"
#include "log/log_line.hpp"
#include "rest/rest_access.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_table.hpp"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <utility>

namespace telegate {
namespace {

constexpr std::size_t logged_path_bytes_max = 256;

HttpResponse nothing_here(const HttpRequest& request) {
    const std::string_view nearest = nearest_path(request.path);
    std::string detail = "there is no path " + quoted_text(request.path);
    detail += nearest.empty() ? "" : "; did you mean " + to_plain_path(nearest) + "?";
    return refused(request, 404, detail + "; GET / lists all paths");
}

HttpResponse wrong_method(const HttpRequest& request, const std::string& allowed) {
    HttpResponse response =
        refused(request, 405, to_readable(request.method) + " is not allowed here: must be one of " + allowed);
    response.headers.emplace_back("Allow", allowed);
    return response;
}

HttpResponse not_acceptable(const HttpRequest& request, const RestRoute& route) {
    return refused(request, 406,
                   "Accept " + quoted_text(field_of(request, "Accept")) +
                       " matches none of the available types: " + joined(route.gives));
}

std::optional<HttpResponse> refuse_body(const HttpRequest& request, const RestRoute& route) {
    const std::string_view type = field_of(request, "Content-Type");
    if (route.body_schema.empty() || is_media_type(type, route.body_type)) {
        return std::nullopt;
    }
    HttpResponse response =
        refused(request, 415,
                "Content-Type " + quoted_text(type) + " is not accepted: must be " + std::string(route.body_type));
    response.headers.emplace_back(request.method == "PATCH" ? "Accept-Patch" : "Accept", route.body_type);
    return response;
}

/// Logs the path as received (percent-encoded), so it contains no spaces, line breaks or quotes.
void log_change(const RestHandlers& handlers, const HttpRequest& request, const HttpResponse& response) {
    const std::string path = problem_instance(request);
    const LogLine line = LogLine("rest change")
                             .add("by", request.who)
                             .add("method", request.method)
                             .add("path", path.substr(0, logged_path_bytes_max))
                             .add("result", response.status)
                             .append(response.log_note);
    if (request.role < HttpRole::admin) {
        handlers.log_refused(request.who, line);
    } else {
        handlers.log_change(line);
    }
}

/// Logs a request without a valid token; the number of lines per minute is limited for each client.
void log_stranger(const RestHandlers& handlers, const HttpRequest& request) {
    const std::string client = request.peer == nullptr ? std::string(request.who) : client_of(*request.peer);
    const bool has_token = !field_of(request, "Authorization").empty();
    handlers.log_refused(client, LogLine("rest request refused")
                                     .add("from", request.peer == nullptr ? request.who : request.peer->address)
                                     .add("method", to_readable(request.method))
                                     .add("path", problem_instance(request).substr(0, logged_path_bytes_max))
                                     .add("reason", has_token ? "unknown_token" : "no_token"));
}

/// After decoding, an encoded slash looks like a separator, while a proxy in front may have seen another path.
bool hides_a_slash(std::string_view target) {
    const std::string_view path = target.substr(0, target.find('?'));
    return path.find("%2f") != std::string_view::npos || path.find("%2F") != std::string_view::npos;
}

/// Unknown paths also require a role, so unauthenticated clients cannot probe them.
HttpRole role_for(const RestMatch& match, const HttpRequest& request) {
    const RestRoute* const route = match.found ? find_method(match, request.method) : nullptr;
    if (route != nullptr) {
        return route->role;
    }
    return is_change(request) ? HttpRole::admin : HttpRole::reader;
}

/// Checks a request against its route and calls it.
HttpResponse answer_match(const RestHandlers& handlers, const HttpRequest& request, const RestMatch& match) {
    const RestRoute* const route = find_method(match, request.method);
    if (route == nullptr) {
        return wrong_method(request, allowed_methods(match));
    }
    const auto preferred = preferred_type(field_of(request, "Accept"), route->gives);
    if (!preferred) {
        return not_acceptable(request, *route);
    }
    if (auto refusal = refuse_body(request, *route)) {
        return std::move(*refusal);
    }
    const RestQuery query(request.target);
    if (const auto unknown = unknown_parameters(query, route->parameters); !unknown.empty()) {
        return unprocessable(request, unknown);
    }
    return route->answer({handlers, request, match.arguments, query, route->gives[*preferred]});
}

/// Checks the role first, then handles the request or the unknown path.
HttpResponse answer_anybody(const RestHandlers& handlers, const HttpRequest& request, const RestMatch& match) {
    if (auto refusal = refuse_unless_allowed(request, role_for(match, request))) {
        return std::move(*refusal);
    }
    return match.found ? answer_match(handlers, request, match) : nothing_here(request);
}

}  // namespace

HttpResponse answer_rest(const RestHandlers& handlers, const HttpRequest& request) {
    const RestMatch match = hides_a_slash(request.target) ? RestMatch{} : find_path(request.path);
    HttpResponse response = answer_anybody(handlers, request, match);
    if (is_change(request) && request.role != HttpRole::none) {
        log_change(handlers, request, response);
    }
    if (response.status == 401) {
        log_stranger(handlers, request);
    }
    const std::size_t row = match.found ? match.row : RestTraffic::no_row;
    if (response.later) {
        response.later = [later = std::move(response.later), traffic = handlers.traffic, row](HttpAnswer answer) {
            later([answer = std::move(answer), traffic, row](HttpResponse late) {
                traffic->count(row, late.status);
                answer(std::move(late));
            });
        };
    } else {
        handlers.traffic->count(row, response.status);
    }
    return response;
}

}  // namespace telegate
