#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"
#include "status/status_parts.hpp"

#include <nlohmann/json.hpp>

#include <array>

namespace telegate {
namespace {

HttpResponse get_uplinks(const RestCall& call) {
    const nlohmann::ordered_json json{{"uplinks", uplinks_json(call.handlers.uplinks())}};
    return {200,
            "application/json",
            json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n',
            {}};
}

constexpr std::array uplink_route_table{
    RestRoute{
        .path = "/uplinks",
        .summary = "The uplinks: their connections, how far they have delivered the durable log, and their ledgers.",
        .gives = gives_json,
        .answer_schema = "UplinkList",
        .answer = get_uplinks},
};

}  // namespace

std::span<const RestRoute> uplink_routes() noexcept {
    return uplink_route_table;
}

}  // namespace telegate
