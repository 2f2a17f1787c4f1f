#include "http/http_message.hpp"
#include "rest/rest_openapi.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"
#include "status/status_json.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace telegate {
namespace {

constexpr std::array<std::string_view, 1> gives_html{"text/html; charset=utf-8"};

HttpResponse get_status(const RestCall& call) {
    HttpResponse response{200, std::string(call.media_type), {}, {}};
    response.shared_body = call.handlers.status_body();
    return response.shared_body ? std::move(response)
                                : unavailable(call.request, "the gateway did not provide its status in time");
}

/// Documents that never change. Creating one takes milliseconds, so each is created once, when it is requested first.
/// Threads: any. Limits: one text for each role and the page. Failure: std::bad_alloc; the next request tries again.
class ApiTexts {
  public:
    using Text = std::shared_ptr<const std::string>;

    [[nodiscard]] Text openapi(HttpRole without_credentials) {
        return get(by_role_[static_cast<std::size_t>(without_credentials)],
                   [&] { return openapi_json(without_credentials); });
    }
    [[nodiscard]] Text page() { return get(page_, openapi_page); }

  private:
    template <class Make>
    Text get(Text& text, const Make& make) {
        const std::lock_guard lock(mutex_);
        if (text == nullptr) {
            text = std::make_shared<const std::string>(make());
        }
        return text;
    }

    std::mutex mutex_;
    std::array<Text, 3> by_role_;
    Text page_;
};

ApiTexts& api_texts() {
    static ApiTexts texts;
    return texts;
}

HttpResponse get_openapi(const RestCall& call) {
    HttpResponse response{200, std::string(call.media_type), {}, {}};
    response.shared_body = api_texts().openapi(call.handlers.role_without_credentials(call.request));
    return response;
}

void list_identity(JsonObject& out, const HttpIdentity& client) {
    out.name_schema("Identity");
    out.add("name", client.who);
    out.add("role", Described{client.role == HttpRole::admin ? "admin" : "reader", R"({"enum":["reader","admin"]})"});
}

/// Lets a client find out what it may do before it tries.
HttpResponse get_identity(const RestCall& call) {
    return json_response(list_identity, HttpIdentity{call.request.role, std::string(call.request.who)});
}

HttpResponse get_docs(const RestCall& call) {
    HttpResponse response{200, std::string(call.media_type), {}, {}};
    response.shared_body = api_texts().page();
    return response;
}

constexpr std::array overview_route_table{
    RestRoute{.path = "/status",
              .summary = "The status of the gateway.",
              .answer_members = members_of<list_status, StatusSnapshot>,
              .refusals = {503},
              .answer = get_status},
    RestRoute{.path = "/openapi.json",
              .summary = "This API as an OpenAPI 3.1 document.",
              .answer_schema = "OpenApi",
              .answer = get_openapi},
    RestRoute{.path = "/whoami",
              .summary = "The name and the role of the client.",
              .answer_members = members_of<list_identity, HttpIdentity>,
              .answer = get_identity},
    RestRoute{.path = "/docs", .summary = "This API as an HTML page.", .gives = gives_html, .answer = get_docs},
};

}  // namespace

constinit const std::span<const RestRoute> overview_routes = overview_route_table;

}  // namespace telegate
