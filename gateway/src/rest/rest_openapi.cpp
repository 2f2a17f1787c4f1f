#include "rest/rest_openapi.hpp"

#include "base/build_info.hpp"
#include "base/json_object.hpp"
#include "config/payload_format.hpp"
#include "config/settings_table.hpp"
#include "encode/json_encoder.hpp"
#include "http/problem.hpp"
#include "rest/channel_answer.hpp"
#include "rest/rest_query.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_table.hpp"
#include "settings/settings_json.hpp"

#include <nlohmann/json.hpp>

#include <set>
#include <utility>
#include <variant>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;
using Place = RestParameter::Place;

std::string_view to_string(Place place) noexcept {
    switch (place) {
        case Place::path: return "path";
        case Place::query: return "query";
        case Place::header: return "header";
    }
    return "";
}

std::string_view to_string(HttpRole role) noexcept {
    switch (role) {
        case HttpRole::none: return "everybody";
        case HttpRole::reader: return "reader";
        case HttpRole::admin: return "admin";
    }
    return "";
}

Json reference(std::string_view schema) {
    return {{"$ref", "#/components/schemas/" + std::string(schema)}};
}

/// Returns the name of the schema of a route's response, after adding it and those that it refers to; "": it is a text.
std::string answer_schema(const RestRoute& route, JsonSchemas& schemas) {
    return route.answer_members == nullptr ? std::string(route.answer_schema) : schemas.describe(route.answer_members);
}

/// The schemas that have no table: they do not describe the members of an object.
constexpr std::string_view other_schemas = R"json({
"Count": {"type": "integer", "minimum": 0},
"Tags": {"type": "object", "additionalProperties": {"type": "string"}},
"ChannelSamplesOrIntervals": {
  "oneOf": [{"$ref": "#/components/schemas/ChannelSamples"}, {"$ref": "#/components/schemas/ChannelIntervals"}]
},
"Origins": {"type": "object"},
"SettingsPatch": {"type": "object"},
"OpenApi": {"type": "object"}
})json";

/// Returns all schemas.
Json schemas_json() {
    JsonSchemas described;
    described.describe([](JsonObject& out) {
        list_problem(out, {});
        out.set_optional(true);
        add_faults(out, {});
        add_device_states(out, {});
    });
    described.describe(describe_sample);
    described.describe(describe_sample_list);
    described.describe(describe_intervals);
    for (const RestRoute* route : rest_table()) {
        (void)answer_schema(*route, described);
        if (route->describe_body != nullptr) {
            described.add(std::string(route->body_schema), route->describe_body());
        }
    }
    Json schemas = Json::parse(other_schemas);
    for (const auto& [name, schema] : described.all()) {
        schemas[name] = Json::parse(schema);
    }
    schemas["Settings"] = settings_schema();
    schemas["Format"] = {{"enum", payload_format_names.names}};
    schemas["RevertAfter"] = Json::parse(revert_after_schema);
    schemas["Level"] = {{"enum", std::get<ChoiceRule>(find_setting("gateway", "log_level")->rule).choices}};
    return schemas;
}

constexpr std::string_view security_schemes = R"json({
"token": {"type": "http", "scheme": "bearer", "description": "A token from the file in the setting `tokens_file`."},
"certificate": {"type": "mutualTLS", "description": "A client certificate signed by `tls_client_ca`."}
})json";

/// Lists the alternatives that each satisfy an operation; the empty one stands for a request without credentials.
Json operation_security(const RestRoute& route, HttpRole without_credentials) {
    if (route.role == HttpRole::none) {
        return Json::array();
    }
    Json alternatives = Json::parse(R"([{"token": []}, {"certificate": []}])");
    if (without_credentials >= route.role) {
        alternatives.push_back(Json::object());
    }
    return alternatives;
}

/// Returns the route's own refusals and those that follow from its body and role.
std::set<int> refusals_of(const RestRoute& route) {
    std::set<int> statuses(route.refusals.begin(), route.refusals.end());
    statuses.erase(0);            // not used
    statuses.insert({406, 422});  // 422: a query with a parameter that the route does not list
    if (!route.body_schema.empty()) {
        statuses.insert({413, 415});
    }
    if (route.role != HttpRole::none) {
        statuses.insert({401, 403, 421, 429});
    }
    return statuses;
}

Json answers_json(const RestRoute& route) {
    JsonSchemas schemas;
    const std::string schema = answer_schema(route, schemas);
    Json content = Json::object();
    for (const std::string_view type : route.gives) {
        const std::string name(type.substr(0, type.find(';')));
        content[name]["schema"] = schema.empty() ? Json{{"type", "string"}} : reference(schema);
    }
    Json answers;
    answers["200"] = {{"description", status_phrase(200)}, {"content", content}};
    for (const int status : refusals_of(route)) {
        Json problem;
        problem["application/problem+json"]["schema"] = reference("Problem");
        if (route.role == HttpRole::none && status == 503) {
            problem.update(content);  // the list of checks
        }
        answers[std::to_string(status)] = {{"description", status_phrase(status)}, {"content", std::move(problem)}};
    }
    return answers;
}

Json parameter_schema(const RestParameter& parameter) {
    Json schema = Json::parse(parameter.schema);
    if (!parameter.item_names.empty()) {
        schema["items"] = {{"enum", parameter.item_names}};
    }
    return schema;
}

Json parameters_json(const RestRoute& route) {
    Json parameters = Json::array();
    for (const RestParameter& parameter : route.parameters) {
        Json json{{"name", parameter.name},
                  {"in", to_string(parameter.place)},
                  {"required", parameter.place == Place::path},
                  {"description", parameter.meaning},
                  {"schema", parameter_schema(parameter)}};
        parameters.push_back(std::move(json));
    }
    return parameters;
}

Json operation_json(const RestRoute& route, HttpRole without_credentials) {
    std::string id(route.method);
    for (const char c : route.path) {
        id += c == '/' || c == '-' || c == '.' || c == '{' || c == '}' ? '_' : c;
    }
    Json operation{{"operationId", id}, {"summary", route.summary}, {"x-role", to_string(route.role)}};
    operation["security"] = operation_security(route, without_credentials);
    if (!route.parameters.empty()) {
        operation["parameters"] = parameters_json(route);
    }
    if (!route.body_schema.empty()) {
        operation["requestBody"] = {
            {"required", true},
            {"content", {{std::string(route.body_type), {{"schema", reference(route.body_schema)}}}}}};
    }
    operation["responses"] = answers_json(route);
    return operation;
}

std::string method_name(std::string_view method) {
    std::string name;
    for (const char c : method) {
        name += static_cast<char>(c - 'A' + 'a');
    }
    return name;
}

std::string escaped(std::string_view text) {
    std::string html;
    for (const char c : text) {
        switch (c) {
            case '&': html += "&amp;"; break;
            case '<': html += "&lt;"; break;
            case '>': html += "&gt;"; break;
            default: html += c; break;
        }
    }
    return html;
}

std::string statuses_text(const RestRoute& route) {
    std::string text = "200";
    for (const int status : refusals_of(route)) {
        text += ", " + std::to_string(status);
    }
    return text;
}

std::string route_html(const RestRoute& route) {
    std::string html = "<h2><code>" + std::string(route.method) + ' ' + escaped(route.path) + "</code></h2>\n<p>" +
                       escaped(route.summary) + " Role: " + std::string(to_string(route.role)) + ".</p>\n";
    if (!route.parameters.empty()) {
        html += "<table><tr><th>parameter</th><th>in</th><th>schema</th><th>meaning</th></tr>\n";
        for (const RestParameter& parameter : route.parameters) {
            html += "<tr><td><code>" + escaped(parameter.name) + "</code></td><td>" +
                    std::string(to_string(parameter.place)) + "</td><td><code>" +
                    escaped(parameter_schema(parameter).dump()) + "</code></td><td>" + escaped(parameter.meaning) +
                    "</td></tr>\n";
        }
        html += "</table>\n";
    }
    if (!route.body_schema.empty()) {
        html += "<p>Request body: " + std::string(route.body_type) + ": <a href=\"#" + std::string(route.body_schema) +
                "\">" + std::string(route.body_schema) + "</a></p>\n";
    }
    html += "<p>Response:";
    for (const std::string_view type : route.gives) {
        html += ' ' + escaped(type);
    }
    JsonSchemas schemas;
    if (const std::string schema = answer_schema(route, schemas); !schema.empty()) {
        html += ": <a href=\"#" + schema + "\">" + schema + "</a>";
    }
    return html + "</p>\n<p>Statuses: " + statuses_text(route) + ".</p>\n";
}

}  // namespace

std::string openapi_json(HttpRole without_credentials) {
    Json paths = Json::object();
    for (const RestRoute* route : rest_table()) {
        paths[std::string(route->path)][method_name(route->method)] = operation_json(*route, without_credentials);
    }
    Json json;
    json["openapi"] = "3.1.0";
    json["info"] = {{"title", "telegate"},
                    {"version", build_info::version},
                    {"description", "Monitors and controls a telemetry gateway. Every GET path also accepts HEAD."},
                    {"license", {{"name", "MIT"}, {"identifier", "MIT"}}}};
    json["servers"] = Json::parse(R"([{"url": "/"}])");
    json["paths"] = std::move(paths);
    json["components"] = {{"schemas", schemas_json()}, {"securitySchemes", Json::parse(security_schemes)}};
    return json.dump() + '\n';
}

std::string openapi_page() {
    std::string html =
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>telegate</title><style>"
        "body{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
        "td,th{text-align:left;padding:.2em .8em .2em 0;vertical-align:top}"
        "pre{background:#f4f4f4;padding:.6em;overflow:auto}</style></head><body>\n<h1>telegate</h1>\n"
        "<p>The content of <a href=\"/openapi.json\">/openapi.json</a>. Every GET path also accepts HEAD. Errors are "
        "<a href=\"#Problem\">application/problem+json</a>.</p>\n";
    for (const RestRoute* route : rest_table()) {
        html += route_html(*route);
    }
    const Json schemas = schemas_json();
    html += "<h1>Schemas</h1>\n";
    for (const auto& [name, schema] : schemas.items()) {
        html.append("<h2 id=\"").append(name).append("\">").append(name).append("</h2>\n<pre>");
        html.append(escaped(schema.dump(2))).append("</pre>\n");
    }
    return html + "</body></html>\n";
}

}  // namespace telegate
