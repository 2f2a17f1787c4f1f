#include "status/status_parts.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

Json services_json(const ServicesStatus& services) {
    Json endpoints = Json::array();
    Json security = Json::array();
    for (const ServicesStatus::Place& place : services.endpoints) {
        endpoints.push_back(place.endpoint);
        security.push_back(security_json(place.curve_key, place.clients));
    }
    Json requests = Json::object();
    for (std::size_t i = 0; i < service_kinds; ++i) {
        requests[std::string(to_string(static_cast<ServiceKind>(i)))] = services.requests[i];
    }
    Json errors = Json::object();
    for (std::size_t i = 0; i < service_errors; ++i) {
        errors[std::string(to_string(static_cast<ServiceError>(i)))] = services.errors[i];
    }
    const SocketTotals& totals = services.totals;
    return {{"endpoints", std::move(endpoints)},
            {"security", std::move(security)},
            {"peers", services.peers},
            {"connections_accepted", totals.connections_accepted},
            {"connections_refused", totals.connections_refused},
            {"accept_errors", totals.accept_errors},
            {"handshakes_failed", totals.handshakes_failed},
            {"violations", totals.violations},
            {"heartbeat_timeouts", totals.heartbeat_timeouts},
            {"peers_revoked", services.peers_revoked},
            {"requests", std::move(requests)},
            {"errors", std::move(errors)},
            {"replays_active", services.replays_active},
            {"replays_completed", services.replays_completed},
            {"samples_replayed", services.samples_replayed},
            {"replies_sent", totals.sent},
            {"replies_dropped", totals.dropped},
            {"replies_pending", totals.pending},
            {"replies_lost", services.replies_lost},
            {"backlog_bytes", services.backlog_bytes}};
}

}  // namespace telegate
