#pragma once

#include "status/status.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telegate {

/// Parts of /status that other responses also contain. Threads: any.
[[nodiscard]] nlohmann::ordered_json ledger_json(const LedgerCounts& entry);
/// Returns the status of one of snapshot.devices.
[[nodiscard]] nlohmann::ordered_json device_json(const StatusSnapshot& snapshot, std::size_t index);
[[nodiscard]] nlohmann::ordered_json subscriber_json(const SubscriberStatus& subscriber);
[[nodiscard]] nlohmann::ordered_json services_json(const ServicesStatus& services);
/// `curve_key`: "" without CURVE; `clients`: nullopt means any.
[[nodiscard]] nlohmann::ordered_json security_json(const std::string& curve_key, std::optional<std::size_t> clients);
[[nodiscard]] nlohmann::ordered_json channel_json(const ChannelStatus& channel);
[[nodiscard]] nlohmann::ordered_json channel_ledger_json(const ChannelLedgerCounts& counts);

/// The counters that PeerStatus and PublisherTotals have in common.
struct DeliveryCounts {
    std::uint64_t matched = 0;
    std::uint64_t sent = 0;
    std::uint64_t dropped = 0;
    std::uint64_t pending = 0;
};
void add_deliveries(nlohmann::ordered_json& json, const DeliveryCounts& counts);

/// The durable log, as in `log` of /status.
[[nodiscard]] nlohmann::ordered_json log_json(const DurableLogStatus& log);

/// One uplink, as in `uplinks` of /status.
[[nodiscard]] nlohmann::ordered_json uplink_json(const UplinkReport& uplink);
[[nodiscard]] nlohmann::ordered_json uplinks_json(const std::vector<UplinkReport>& uplinks);

}  // namespace telegate
