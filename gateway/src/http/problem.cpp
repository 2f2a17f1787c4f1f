#include "http/problem.hpp"

#include "base/json_object.hpp"

namespace telegate {
namespace {

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

void list_problem(JsonObject& out, const Problem& problem) {
    out.name_schema("Problem");
    out.add("type", Described{"about:blank", R"({"const":"about:blank"})"});
    out.add("title", status_phrase(problem.status));
    out.add("status", Described{problem.status, R"({"type":"integer","minimum":400,"maximum":599})"});
    out.add("detail", problem.detail);
    out.add("instance", problem.instance.substr(0, instance_bytes_max));
}

HttpResponse problem_response(const Problem& problem, const std::function<void(JsonObject&)>& more) {
    HttpResponse response;
    response.status = problem.status;
    response.content_type = "application/problem+json";
    response.body = json_object_text([&](JsonObject& out) {
                        list_problem(out, problem);
                        if (more) {
                            more(out);
                        }
                    }) +
                    '\n';
    return response;
}

}  // namespace telegate
