#include "gateway/rest/rest_call.hpp"
#include "rest/rest_openapi.hpp"
#include "rest/rest_query.hpp"
#include "rest/rest_table.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <set>

using namespace telegate;
using namespace telegate::test;
using nlohmann::json;

namespace {

/// Returns whether every reference of a document names one of its schemas, not a part of one.
bool all_references_name_schemas(const json& node, const json& schemas) {
    const std::string prefix = "#/components/schemas/";
    if (node.is_object() && node.contains("$ref")) {
        const std::string path = node["$ref"];
        return path.starts_with(prefix) && schemas.contains(path.substr(prefix.size()));
    }
    return !node.is_structured() || std::all_of(node.begin(), node.end(), [&](const json& child) {
        return all_references_name_schemas(child, schemas);
    });
}

/// Returns whether every object in a schema has a name and every array has a schema for its items.
bool all_parts_are_known(const json& schema) {
    return std::all_of(schema.begin(), schema.end(), [](const json& part) {
        const std::string type = part.is_object() ? part.value("type", json()).dump() : "";
        const bool is_object = type.find("\"object\"") != std::string::npos;
        const bool is_array = type.find("\"array\"") != std::string::npos;
        const bool known = !is_object && (!is_array || part.contains("items"));
        return known && (!part.is_structured() || all_parts_are_known(part));
    });
}

}  // namespace

TEST_CASE("no two routes have the same method and path, and those of one path are adjacent", "[gateway][rest]") {
    std::set<std::pair<std::string_view, std::string_view>> seen;
    std::set<std::string_view> paths;
    std::string_view before;
    for (const RestRoute* route : rest_table()) {
        CAPTURE(route->path);
        CHECK(seen.emplace(route->method, route->path).second);
        CHECK((route->path == before || paths.insert(route->path).second));
        before = route->path;
    }
}

TEST_CASE("routes that change something require admin, and all others are GET", "[gateway][rest]") {
    for (const RestRoute* route : rest_table()) {
        CAPTURE(route->path);
        CHECK((route->method == "GET") == (route->role != HttpRole::admin));
    }
}

TEST_CASE("an unknown path is 404 and the nearest one is named", "[gateway][rest]") {
    RestCaller call;
    const auto [path, meant] = GENERATE(table<std::string, std::string>({{"/staus", "did you mean /status?"},
                                                                         {"/metric", "did you mean /metrics?"},
                                                                         {"/device", "did you mean /devices?"},
                                                                         {"/Status", "did you mean /status?"},
                                                                         {"/wp-login.php", "GET / lists"}}));
    CAPTURE(path);
    const json problem = call.request("GET", path);
    CHECK(problem["status"] == 404);
    CHECK(problem["detail"].get<std::string>().find(meant) != std::string::npos);
}

TEST_CASE("a method that a path does not support is 405 with the supported ones", "[gateway][rest]") {
    RestCaller call;
    const auto [method, path, allowed] =
        GENERATE(table<std::string, std::string, std::string>({{"DELETE", "/log-level", "GET, HEAD, PUT"},
                                                               {"GET", "/subscribers/json-1", "DELETE"},
                                                               {"PUT", "/start", "POST"},
                                                               {"GET", "/devices/host/start", "POST"},
                                                               {"BREW", "/metrics", "GET, HEAD"}}));
    CAPTURE(path);
    const HttpResponse response = call(method, path);
    CHECK(response.status == 405);
    CHECK(header_of(response, "Allow") == allowed);
    CHECK(call.gateway.state("host") == DeviceState::idle);
}

TEST_CASE("a client that accepts none of a path's types gets 406", "[gateway][rest]") {
    RestCaller call;
    call.fields["Accept"] = "text/html";
    CHECK(call("GET", "/status").status == 406);
    CHECK(call("GET", "/docs").status == 200);
    CHECK(call("POST", "/start").status == 406);
    CHECK(call.gateway.state("host") == DeviceState::idle);
    CHECK(json::parse(call("GET", "/status").body)["detail"] ==
          "Accept \"text/html\" matches none of the available types: application/json");
}

TEST_CASE("HEAD finds every path that GET finds", "[gateway][rest]") {
    RestCaller call;
    for (const RestRoute* route : rest_table()) {
        CAPTURE(route->path);
        const bool readable = route->method == "GET" && route->path.find('{') == std::string_view::npos;
        CHECK((!readable || call("HEAD", std::string(route->path)).status == 200));
    }
    CHECK(call.gateway.streams.count() == 0);
}

TEST_CASE("every change is logged with client, request and result, and nothing else is", "[gateway][rest]") {
    RestCaller call;
    (void)call("POST", "/devices/host/start");
    (void)call("DELETE", "/subscribers/json-9");
    (void)call("GET", "/status");
    (void)call("GET", "/start");
    CHECK(call.gateway.changes ==
          std::vector<std::string>{
              "rest change by=test method=POST path=/devices/host/start result=200 command=start device=host",
              "rest change by=test method=DELETE path=/subscribers/json-9 result=404"});
}

TEST_CASE("a path in the log cannot start a new line", "[gateway][rest]") {
    RestCaller call;
    (void)call("POST", "/devices/a\nforged line/start");
    REQUIRE(call.gateway.changes.size() == 1);
    CHECK(call.gateway.changes[0].find('\n') == std::string::npos);
}

TEST_CASE("requests are counted by path and status, whatever paths clients request", "[gateway][rest]") {
    RestCaller call;
    (void)call("GET", "/devices/host");
    (void)call("GET", "/devices/boiler");
    (void)call("GET", "/nothing");
    (void)call("GET", "/nowhere");
    const auto counts = call.gateway.traffic.counts();
    REQUIRE(counts.size() == 2);
    CHECK((counts[0].path == "/devices/{name}" && counts[0].status == 404 && counts[0].requests == 2));
    CHECK((counts[1].path == "other" && counts[1].status == 404 && counts[1].requests == 2));
}

TEST_CASE("the OpenAPI document has every route, and its references name schemas", "[gateway][rest]") {
    const json document = json::parse(openapi_json(HttpRole::admin));
    CHECK(document["openapi"] == "3.1.0");
    CHECK(all_references_name_schemas(document, document["components"]["schemas"]));
    for (const RestRoute* route : rest_table()) {
        CAPTURE(route->path);
        REQUIRE(document["paths"].contains(std::string(route->path)));
        const json& path = document["paths"][std::string(route->path)];
        const std::string method = route->method == "GET"     ? "get"
                                   : route->method == "PUT"   ? "put"
                                   : route->method == "POST"  ? "post"
                                   : route->method == "PATCH" ? "patch"
                                                              : "delete";
        REQUIRE(path.contains(method));
        CHECK(path[method]["responses"].contains("200"));
        const auto braces = std::count(route->path.begin(), route->path.end(), '{');
        CHECK(std::count_if(route->parameters.begin(), route->parameters.end(), [](const RestParameter& parameter) {
                  return parameter.place == RestParameter::Place::path;
              }) == braces);
    }
}

TEST_CASE("objects in the OpenAPI document have names, and arrays have items", "[gateway][rest]") {
    const json document = json::parse(openapi_json(HttpRole::admin));
    for (const auto& [name, schema] : document["components"]["schemas"].items()) {
        CAPTURE(name);
        CHECK((name == "Settings" || all_parts_are_known(schema)));
    }
}

TEST_CASE("the OpenAPI document has the schemas of the request bodies", "[gateway][rest]") {
    const json schemas = json::parse(openapi_json(HttpRole::admin))["components"]["schemas"];
    CHECK(schemas["LogLevelChange"] ==
          json::parse(R"({"type":"object","required":["level"],"additionalProperties":false,"properties":{
          "level":{"$ref":"#/components/schemas/Level"},"revert_after":{"$ref":"#/components/schemas/RevertAfter"}}})"));
    CHECK(schemas["UplinkRewind"] ==
          json::parse(R"({"type":"object","oneOf":[{"required":["position"]},{"required":["time"]}],
          "additionalProperties":false,"properties":{"position":{"$ref":"#/components/schemas/Count"},
          "time":{"type":"string","format":"date-time"}}})"));
}

TEST_CASE("operations require credentials unless the client has their role without", "[gateway][rest]") {
    json document = json::parse(openapi_json(HttpRole::reader));
    CHECK(document["paths"]["/start"]["post"]["security"] == json::parse(R"([{"token":[]}, {"certificate":[]}])"));
    CHECK(document["paths"]["/status"]["get"]["security"] == json::parse(R"([{"token":[]}, {"certificate":[]}, {}])"));
    CHECK(document["paths"]["/livez"]["get"]["security"] == json::array());
}

TEST_CASE("the HTML page has every route and loads nothing", "[gateway][rest]") {
    const std::string page = openapi_page();
    for (const RestRoute* route : rest_table()) {
        CAPTURE(route->path);
        CHECK(page.find(std::string(route->method) + ' ' + std::string(route->path) + "</code>") != std::string::npos);
    }
    CHECK(page.find("<script") == std::string::npos);
    CHECK(page.find("src=") == std::string::npos);
    CHECK(page.find("href=\"http") == std::string::npos);
    CHECK(page.find("url(") == std::string::npos);
}

TEST_CASE("a query is split and decoded", "[gateway][rest]") {
    const RestQuery query("/x?a=1&b=two+words&a=%2F%zz%4&&c&=d#e=f");
    CHECK(query.all("a") == std::vector<std::string_view>{"1", "/%zz%4"});
    CHECK(query.all("b") == std::vector<std::string_view>{"two words"});
    CHECK(query.all("c") == std::vector<std::string_view>{""});
    CHECK_FALSE(query.has("e"));
    CHECK_FALSE(RestQuery("/x").has("a"));
}

TEST_CASE("a query may have 256 parameters, and reports if there were more", "[gateway][rest]") {
    std::string target = "/x?";
    for (std::size_t i = 0; i < RestQuery::parameters_max; ++i) {
        target += "a=1&";
    }
    CHECK_FALSE(RestQuery(target).has_more());
    CHECK(RestQuery(target + "b=1").has_more());
    CHECK(RestQuery(target).names() == std::vector<std::string_view>{"a"});
}

TEST_CASE("every route refuses a parameter that it does not list, and names those that it lists", "[gateway][rest]") {
    RestCaller call;
    call.fields["Content-Type"] = "application/json";
    for (const RestRoute* route : rest_table()) {
        CAPTURE(route->path);
        call.fields["Content-Type"] = route->body_type;
        std::string target(route->path);
        for (std::size_t at = 0; (at = target.find('{')) != std::string::npos;) {
            target.replace(at, target.find('}') - at + 1, "host");
        }
        const json problem = call.request(route->method, target + "?nonsense=1&nonsense=2");
        CHECK(problem["status"] == 422);
        REQUIRE(problem["errors"].size() == 1);
        CHECK(problem["errors"][0]["parameter"] == "nonsense");
        const std::string detail = problem["errors"][0]["detail"];
        std::size_t listed = 0;
        for (const RestParameter& parameter : route->parameters) {
            const bool is_query = parameter.place == RestParameter::Place::query;
            listed += is_query ? 1 : 0;
            CHECK((!is_query || detail.find(parameter.name) != std::string::npos));
        }
        CHECK((detail.find("this path has no parameters") != std::string::npos) == (listed == 0));
    }
    CHECK(call.gateway.state("host") == DeviceState::idle);
}

TEST_CASE("a misspelled parameter is reported with the nearest name, and too many are refused", "[gateway][rest]") {
    RestCaller call;
    CHECK(call.request("GET", "/samples/latest?prefx=a")["errors"][0]["detail"] ==
          "unknown parameter; did you mean prefix? must be one of prefix");
    CHECK(call("GET", "/samples/latest?prefix=a&&").status == 200);
    std::string many = "/stream?";
    for (std::size_t i = 0; i <= RestQuery::parameters_max; ++i) {
        many += "prefix=a&";
    }
    CHECK(call.request("GET", many)["errors"][0]["detail"] == "too many parameters: must be at most 256");
}
