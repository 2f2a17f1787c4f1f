#include "encode/time_text.hpp"
#include "status/status_parts.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdint>
#include <string>

namespace telegate {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) {
    return text.empty() ? Json(nullptr) : Json(text);
}

Json time_or_null(std::int64_t utc_ns) {
    return utc_ns == 0 ? Json(nullptr) : Json(to_iso8601(utc_ns));
}

}  // namespace

Json uplink_json(const UplinkReport& uplink) {
    const uplink::UplinkStatus& status = uplink.status;
    return {{"name", uplink.name},
            {"urls", uplink.urls},
            {"subject", uplink.subject},
            {"connected", status.is_connected},
            {"state", uplink::to_string(status.state)},
            {"paused", status.is_paused},
            {"server", text_or_null(status.server)},
            {"error", text_or_null(status.error)},
            {"last_error", text_or_null(status.last_error)},
            {"last_error_time", time_or_null(status.last_error_utc_ns)},
            {"cursor_error", text_or_null(status.cursor_error)},
            {"position", status.settled},
            {"delivered_time", time_or_null(status.delivered_utc_ns)},
            {"lag_s", std::chrono::duration<double>(uplink.lag).count()},
            {"lag_samples", status.lag},
            {"backlog_samples", status.backlog},
            {"catch_up_s", status.catch_up_time ? Json(status.catch_up_time->count()) : Json(nullptr)},
            {"round_trip_s", std::chrono::duration<double>(status.round_trip).count()},
            {"connections", status.connections},
            {"losses", status.losses},
            {"messages",
             {{"sent", status.counts.sent},
              {"resent", status.counts.resent},
              {"acknowledged", status.counts.acknowledged},
              {"duplicates", status.counts.duplicates},
              {"refused", status.counts.refused}}},
            {"samples",
             {{"read", status.ledger.read},
              {"acknowledged", status.ledger.acknowledged},
              {"in_flight", status.ledger.in_flight},
              {"quarantined", status.ledger.quarantined},
              {"gaps", status.ledger.gaps},
              {"returned", status.ledger.returned},
              {"balanced", status.ledger.balanced()}}},
            {"quarantine", {{"samples", status.quarantined}, {"bytes", status.quarantine_bytes}}}};
}

Json uplinks_json(const std::vector<UplinkReport>& uplinks) {
    Json json = Json::array();
    for (const UplinkReport& each : uplinks) {
        json.push_back(uplink_json(each));
    }
    return json;
}

}  // namespace telegate
