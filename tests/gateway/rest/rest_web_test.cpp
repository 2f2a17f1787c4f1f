#include "gateway/rest/rest_call.hpp"
#include "support/catch.hpp"
#include "web/web_files.hpp"

#include <string>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr std::string_view browser_accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

}  // namespace

TEST_CASE("a browser receives the page and other clients the list of paths", "[gateway][rest][web]") {
    RestCaller call;
    const HttpResponse list = call("GET", "/");
    CHECK(list.content_type == "text/plain; charset=utf-8");
    CHECK(list.body.find("GET    /status") != std::string::npos);
    call.fields["Accept"] = browser_accept;
    const HttpResponse page = call("GET", "/");
    CHECK(page.status == 200);
    CHECK(page.content_type == "text/html; charset=utf-8");
    CHECK(page.body != list.body);
}

TEST_CASE("the page is served to clients without a role, and the list of paths is not", "[gateway][rest][web]") {
    RestCaller call;
    HttpRequest request;
    request.method = "GET";
    request.path = request.target = "/";
    request.role = HttpRole::none;
    CHECK(answer_rest(call.gateway.handlers(), request).status == 401);
    request.field = [](std::string_view name) {
        return name == "Accept" ? browser_accept : std::string_view();
    };
    CHECK(answer_rest(call.gateway.handlers(), request).status == 200);
    request.path = request.target = "/web/app.js";
    CHECK(answer_rest(call.gateway.handlers(), request).status == 200);
}

TEST_CASE("every file of the page is compressed, named by a tag and restricted to the gateway",
          "[gateway][rest][web]") {
    RestCaller call;
    for (const WebFile& file : web_files()) {
        CAPTURE(file.name);
        const std::string path = "/web/" + std::string(file.name);
        call.fields.clear();
        const HttpResponse response = call("GET", path);
        CHECK(response.status == 200);
        CHECK(response.content_type == file.media_type);
        CHECK(response.body.starts_with("\x1f\x8b"));
        CHECK(header_of(response, "Content-Encoding") == "gzip");
        CHECK(header_of(response, "Cache-Control") == "no-cache");
        CHECK(header_of(response, "X-Content-Type-Options") == "nosniff");
        CHECK(header_of(response, "Referrer-Policy") == "no-referrer");
        const std::string policy = header_of(response, "Content-Security-Policy");
        CHECK(policy.starts_with("default-src 'self'; "));
        CHECK(policy.find("frame-ancestors 'none'") != std::string::npos);
        CHECK(policy.find("unsafe") == std::string::npos);

        call.fields["If-None-Match"] = "\"other\", " + header_of(response, "ETag");
        const HttpResponse same = call("GET", path);
        CHECK(same.status == 304);
        CHECK(same.body.empty());
        call.fields["If-None-Match"] = "\"other\"";
        CHECK(call("GET", path).status == 200);
    }
}

TEST_CASE("a file that the page does not have is 404", "[gateway][rest][web]") {
    RestCaller call;
    CHECK(call("GET", "/web/nothing.js").status == 404);
    CHECK(call("GET", "/web/..").status == 404);
    CHECK(call("GET", "/web/").status == 404);
    CHECK(call("POST", "/web/app.js").status == 405);
}

TEST_CASE("a client can find out its role", "[gateway][rest]") {
    RestCaller call;
    CHECK(call.request("GET", "/whoami") == nlohmann::json{{"name", "test"}, {"role", "admin"}});
}
