#pragma once

#include "base/json_object.hpp"
#include "http/http_message.hpp"
#include "rest/rest_handlers.hpp"
#include "rest/rest_query.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace telegate {

/// A parameter of a path. Its description is included in /openapi.json.
struct RestParameter {
    enum class Place : std::uint8_t { path, query, header };
    std::string_view name;
    Place place = Place::query;
    std::string_view schema = {};                       // JSON Schema
    std::span<const std::string_view> item_names = {};  // of an array: the allowed items
    std::string_view meaning = {};
};

/// Returns the parameter for a part of a path, which must not be empty.
constexpr RestParameter path_parameter(std::string_view name, std::string_view meaning) {
    return {.name = name,
            .place = RestParameter::Place::path,
            .schema = R"({"type":"string","minLength":1})",
            .meaning = meaning};
}

/// A request whose route has been found.
struct RestCall {
    const RestHandlers& handlers;
    const HttpRequest& request;
    std::span<const std::string_view> arguments;  // values of each {name} in the path, in order
    const RestQuery& query;
    std::string_view media_type;  // the type that the client prefers among those of the route

    /// Returns whether the body of the response will be omitted.
    [[nodiscard]] bool is_head() const noexcept { return request.method == "HEAD"; }
};

inline constexpr std::array<std::string_view, 1> gives_json{"application/json"};

/// One row of the table of routes, from which dispatch, GET /, /openapi.json, /docs and docs/rest.md are generated.
struct RestRoute {
    std::string_view method = "GET";  // GET also accepts HEAD
    std::string_view path;            // "/devices/{name}"; a part in braces matches any one part
    HttpRole role = HttpRole::reader;
    std::string_view summary;
    std::span<const RestParameter> parameters = {};
    std::string_view body_schema = {};         // name of the schema of a JSON body; "": no body
    std::string (*describe_body)() = nullptr;  // returns the schema, if a RequestBody has the members
    std::string_view body_type = "application/json";
    std::span<const std::string_view> gives = gives_json;  // media types, the preferred one first
    void (*answer_members)(JsonObject& out) = nullptr;     // of a JSON response, see JsonObject
    std::string_view answer_schema = {};                   // without members: of a JSON response
    std::array<int, 4> refusals{};                         // its own statuses, in addition to those of every route
    HttpResponse (*answer)(const RestCall& call) = nullptr;
};

inline constexpr std::array<std::string_view, 1> gives_text{"text/plain; charset=utf-8"};
/// Maximum length of a topic prefix in a query.
inline constexpr std::size_t prefix_characters_max = 256;

/// A function for `answer_members`.
template <auto list, class Value>
void members_of(JsonObject& out) {
    list(out, Value{});
}

/// Returns the object whose members `list` adds as a response. Threads: any.
template <class List>
[[nodiscard]] HttpResponse json_response(const List& list) {
    return {200, std::string(gives_json.front()), json_object_text(list) + '\n', {}};
}
/// The same for a list that takes the value.
template <class List, class Value>
[[nodiscard]] HttpResponse json_response(const List& list, const Value& value) {
    return json_response([&](JsonObject& out) { list(out, value); });
}

/// Returns whether this is the path of a health check. Threads: any.
[[nodiscard]] bool is_health_path(std::string_view path) noexcept;

/// The rows, by subject; rest_table.cpp puts them in order.
extern const std::span<const RestRoute> web_routes;
extern const std::span<const RestRoute> overview_routes;
extern const std::span<const RestRoute> health_routes;
extern const std::span<const RestRoute> device_routes;
extern const std::span<const RestRoute> event_routes;
extern const std::span<const RestRoute> alarm_routes;
extern const std::span<const RestRoute> sample_routes;
extern const std::span<const RestRoute> channel_routes;
extern const std::span<const RestRoute> subscriber_routes;
extern const std::span<const RestRoute> log_routes;
extern const std::span<const RestRoute> uplink_routes;
extern const std::span<const RestRoute> log_level_routes;
extern const std::span<const RestRoute> stream_routes;
extern const std::span<const RestRoute> metrics_routes;
extern const std::span<const RestRoute> config_routes;

}  // namespace telegate
