#include "encode/time_text.hpp"
#include "status/status_parts.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <string>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

}  // namespace

Json uplink_json(const UplinkReport& uplink) {
    const uplink::UplinkStatus& status = uplink.status;
    return {
        {"name", uplink.name},
        {"urls", uplink.urls},
        {"subject", uplink.subject},
        {"connected", status.is_connected},
        {"state", uplink::to_string(status.state)},
        {"server", text_or_null(status.server)},
        {"error", text_or_null(status.error)},
        {"cursor_error", text_or_null(status.cursor_error)},
        {"position", status.settled},
        {"delivered_time", status.delivered_utc_ns == 0 ? Json(nullptr) : Json(to_iso8601(status.delivered_utc_ns))},
        {"lag_s", std::chrono::duration<double>(uplink.lag).count()},
        {"connections", status.connections},
        {"messages",
         {{"sent", status.counts.sent},
          {"resent", status.counts.resent},
          {"acknowledged", status.counts.acknowledged},
          {"duplicates", status.counts.duplicates},
          {"refused", status.counts.refused}}},
        {"samples",
         {{"read", status.ledger.read},
          {"acknowledged", status.ledger.acknowledged},
          {"pending", status.ledger.pending},
          {"missing", status.ledger.missing},
          {"balanced", status.ledger.balanced()}}}};
}

Json uplinks_json(const std::vector<UplinkReport>& uplinks) {
    Json json = Json::array();
    for (const UplinkReport& each : uplinks) {
        json.push_back(uplink_json(each));
    }
    return json;
}

}  // namespace telegate
