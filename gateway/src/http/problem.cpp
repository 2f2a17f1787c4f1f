#include "http/problem.hpp"

#include <nlohmann/json.hpp>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

// A target may be several kilobytes long; its start is enough to recognize it.
constexpr std::size_t instance_bytes_max = 256;

}  // namespace

std::string_view status_phrase(int status) noexcept {
    switch (status) {
        case 200: return "OK";
        case 204: return "No Content";
        case 304: return "Not Modified";
        case 400: return "Bad Request";
        case 401: return "Unauthorized";
        case 403: return "Forbidden";
        case 404: return "Not Found";
        case 405: return "Method Not Allowed";
        case 406: return "Not Acceptable";
        case 409: return "Conflict";
        case 411: return "Length Required";
        case 412: return "Precondition Failed";
        case 413: return "Content Too Large";
        case 414: return "URI Too Long";
        case 415: return "Unsupported Media Type";
        case 417: return "Expectation Failed";
        case 421: return "Misdirected Request";
        case 422: return "Unprocessable Content";
        case 429: return "Too Many Requests";
        case 431: return "Request Header Fields Too Large";
        case 500: return "Internal Server Error";
        case 501: return "Not Implemented";
        case 503: return "Service Unavailable";
        default: return "Error";
    }
}

HttpResponse problem_response(const Problem& problem) {
    return problem_response(problem, Json::object());
}

HttpResponse problem_response(const Problem& problem, const nlohmann::ordered_json& extensions) {
    Json json{{"type", "about:blank"},
              {"title", status_phrase(problem.status)},
              {"status", problem.status},
              {"detail", problem.detail},
              {"instance", problem.instance.substr(0, instance_bytes_max)}};
    json.update(extensions);
    HttpResponse response;
    response.status = problem.status;
    response.content_type = "application/problem+json";
    response.body = json.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n';
    return response;
}

}  // namespace telegate
