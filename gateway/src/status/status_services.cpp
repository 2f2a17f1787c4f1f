#include "base/json_object.hpp"
#include "status/status_parts.hpp"

namespace telegate {

void list_services(JsonObject& out, const ServicesStatus& services) {
    using Place = ServicesStatus::Place;
    const SocketTotals& totals = services.totals;
    out.name_schema("Services");
    out.values("endpoints", services.endpoints, [](const Place& place) { return place.endpoint; });
    out.array("security", services.endpoints,
              [](JsonObject& each, const Place& place) { list_security(each, place.curve_key, place.clients); });
    out.add("peers", services.peers);
    add_connections(out, totals);
    out.add("peers_revoked", services.peers_revoked);
    out.counts<ServiceKind>("requests", services.requests);
    out.counts<ServiceError>("errors", services.errors);
    out.add("replays_active", services.replays_active);
    out.add("replays_completed", services.replays_completed);
    out.add("samples_replayed", services.samples_replayed);
    out.add("replies_sent", totals.sent);
    out.add("replies_dropped", totals.dropped);
    out.add("replies_pending", totals.pending);
    out.add("replies_lost", services.replies_lost);
    out.add("backlog_bytes", services.backlog_bytes);
}

}  // namespace telegate
