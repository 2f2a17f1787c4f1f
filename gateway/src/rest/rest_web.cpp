#include "rest/rest_access.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"
#include "rest/rest_table.hpp"
#include "web/web_files.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace telegate {
namespace {

constexpr std::array<std::string_view, 2> gives_index{gives_text[0], "text/html; charset=utf-8"};
constexpr std::array<std::string_view, 4> gives_files{"text/html; charset=utf-8", "text/css; charset=utf-8",
                                                      "text/javascript; charset=utf-8", "image/svg+xml"};
constexpr std::array file_parameters{
    path_parameter("file", "A file of the page."),
};

/// Scripts and styles only from files of the gateway, no frames around the page, and no forms that a browser sends by
/// itself, so that a token cannot end up in an address.
constexpr std::string_view content_policy =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; object-src 'none'";

/// Every browser accepts gzip, so there is no other form.
HttpResponse to_response(const RestCall& call, const WebFile& file) {
    HttpResponse response{200, std::string(file.media_type), "", {}};
    response.headers = {{"ETag", std::string(file.entity_tag)},
                        {"Cache-Control", "no-cache"},
                        {"Content-Security-Policy", std::string(content_policy)},
                        {"Cross-Origin-Opener-Policy", "same-origin"},
                        {"Cross-Origin-Resource-Policy", "same-origin"},
                        {"Referrer-Policy", "no-referrer"},
                        {"X-Content-Type-Options", "nosniff"}};
    if (field_of(call.request, "If-None-Match").find(file.entity_tag) != std::string_view::npos) {
        response.status = 304;
        return response;
    }
    response.headers.emplace_back("Content-Encoding", "gzip");
    response.body = file.gzip;
    return response;
}

/// The page is for everybody, because a client has no token before it has shown the page that requests one.
HttpResponse get_index(const RestCall& call) {
    if (call.media_type == gives_index[1]) {
        return to_response(call, *find_web_file("index.html"));
    }
    if (auto refusal = refuse_unless_allowed(call.request, HttpRole::reader)) {
        return std::move(*refusal);
    }
    std::string text = "telegate\n\n";
    for (const RestRoute* route : rest_table()) {
        std::string line = std::string(route->method);
        line.resize(std::max<std::size_t>(line.size() + 1, 7), ' ');
        line += to_plain_path(route->path);
        line.resize(std::max<std::size_t>(line.size() + 2, 40), ' ');
        text += line + std::string(route->summary) + '\n';
    }
    return {200, std::string(gives_text[0]), std::move(text), {}};
}

HttpResponse get_file(const RestCall& call) {
    const WebFile* const file = find_web_file(call.arguments[0]);
    return file != nullptr ? to_response(call, *file)
                           : refused(call.request, 404, "the page has no file " + quoted_text(call.arguments[0]));
}

constexpr std::array web_route_table{
    RestRoute{.path = "/",
              .role = HttpRole::none,
              .summary = "The page of the gateway for browsers; for other readers, a list of all paths.",
              .gives = gives_index,
              .refusals = {401, 421, 429},
              .answer = get_index},
    RestRoute{.path = "/web/{file}",
              .role = HttpRole::none,
              .summary = "The files of the page, compressed with gzip.",
              .parameters = file_parameters,
              .gives = gives_files,
              .refusals = {404, 421},
              .answer = get_file},
};

}  // namespace

constinit const std::span<const RestRoute> web_routes = web_route_table;

}  // namespace telegate
