#pragma once

#include "http/http_message.hpp"
#include "rest/rest_handlers.hpp"
#include "rest/rest_query.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace telegate {

/// What a path takes besides its body. The description of each goes into /openapi.json.
struct RestParameter {
    enum class Place : std::uint8_t { path, query, header };
    std::string_view name;
    Place place = Place::query;
    std::string_view schema = {};  // JSON Schema
    std::string_view meaning = {};
};

/// A request that has found its route.
struct RestCall {
    const RestHandlers& handlers;
    const HttpRequest& request;
    std::span<const std::string_view> arguments;  // what stands for each {name} of the path, in order
    const RestQuery& query;
    std::string_view media_type;  // the one of the route's that the client likes best

    /// Whether the answer's body will be left out.
    [[nodiscard]] bool is_head() const noexcept { return request.method == "HEAD"; }
};

/// One row of the table that REST consists of: dispatch, GET /, /openapi.json, /docs and docs/rest.md come from it.
struct RestRoute {
    std::string_view method = "GET";  // a path with GET takes HEAD too
    std::string_view path;            // "/devices/{name}"; a part in braces stands for any one part
    HttpRole role = HttpRole::reader;
    std::string_view summary;
    std::span<const RestParameter> parameters = {};
    std::string_view body_schema = {};  // of a JSON body, see rest_schemas.hpp; "": takes none
    std::string_view body_type = "application/json";
    std::span<const std::string_view> gives;  // media types, the preferred first
    std::string_view answer_schema = {};      // of a JSON answer
    std::span<const int> refusals = {};       // statuses of its own, besides those that every route has
    HttpResponse (*answer)(const RestCall& call) = nullptr;
};

inline constexpr std::array<std::string_view, 1> gives_json{"application/json"};
inline constexpr std::array<std::string_view, 1> gives_text{"text/plain; charset=utf-8"};
/// The refusals of a route whose answer needs another thread.
inline constexpr std::array may_be_late{503};
/// Of a topic prefix in a query.
inline constexpr std::size_t prefix_characters_max = 256;

/// Whether this is the path of a health check. Threads: any.
[[nodiscard]] bool is_health_path(std::string_view path) noexcept;

/// The rows, by noun; rest_table.cpp puts them in order.
[[nodiscard]] std::span<const RestRoute> overview_routes() noexcept;
[[nodiscard]] std::span<const RestRoute> health_routes() noexcept;
[[nodiscard]] std::span<const RestRoute> device_routes() noexcept;
[[nodiscard]] std::span<const RestRoute> event_routes() noexcept;
[[nodiscard]] std::span<const RestRoute> alarm_routes() noexcept;
[[nodiscard]] std::span<const RestRoute> sample_routes() noexcept;
[[nodiscard]] std::span<const RestRoute> subscriber_routes() noexcept;
[[nodiscard]] std::span<const RestRoute> log_level_routes() noexcept;
[[nodiscard]] std::span<const RestRoute> stream_routes() noexcept;
[[nodiscard]] std::span<const RestRoute> metrics_routes() noexcept;
[[nodiscard]] std::span<const RestRoute> config_routes() noexcept;
[[nodiscard]] std::span<const RestRoute> rollback_routes() noexcept;

}  // namespace telegate
