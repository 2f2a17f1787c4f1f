#pragma once

#include "base/json_object.hpp"
#include "config/settings_diff.hpp"
#include "status/status.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate {

/// Add the members of parts of /status that other responses also contain. Threads: any.
/// `balanced`: nullopt: not shown.
void list_ledger(JsonObject& out, const LedgerCounts& counts, std::optional<bool> balanced = std::nullopt);
void list_channel_ledger(JsonObject& out, const ChannelLedgerCounts& counts);
/// `text_id`: "": its number.
void list_subscriber(JsonObject& out, const SubscriberStatus& subscriber, std::string_view text_id = "");
void list_channel(JsonObject& out, const ChannelStatus& channel);
void list_services(JsonObject& out, const ServicesStatus& services);
void list_log(JsonObject& out, const DurableLogStatus& log);
void list_uplink(JsonObject& out, const UplinkReport& uplink);
/// A difference between two settings.
void list_change(JsonObject& out, const SettingChange& change);

/// A device with what other parts count about it.
struct ShownDevice {
    DeviceStatus device;
    std::uint64_t channels_bad = 0;
    std::optional<LedgerCounts> ledger = std::nullopt;  // nullopt: not shown
};
[[nodiscard]] std::vector<ShownDevice> shown_devices(const StatusSnapshot& snapshot, bool with_ledgers);
void list_device(JsonObject& out, const ShownDevice& shown);

/// A ROUTER or PUB endpoint. `curve_key`: "" without CURVE; `clients`: nullopt means any.
void list_security(JsonObject& out, const std::string& curve_key, std::optional<std::size_t> clients);

/// Adds the counters of connections that all sockets have.
void add_connections(JsonObject& out, const SocketTotals& totals);
/// Adds the counters of messages that SubscriberStatus and PublisherTotals have in common.
template <class Counts>
void add_deliveries(JsonObject& out, const Counts& counts) {
    out.add("matched", counts.matched,
            counter("telegate_publisher_matched", "Messages for subscribers, counted once per matching subscriber."));
    out.add("sent", counts.sent, counter("telegate_publisher_sent", "Messages handed to the kernel completely."));
    out.add("dropped", counts.dropped,
            counter("telegate_publisher_dropped",
                    "Messages dropped because a subscriber was too slow or had disconnected."));
    out.add("pending", counts.pending,
            gauge("telegate_publisher_pending", "Messages waiting to be sent to subscribers."));
    out.add("balanced", counts.matched == counts.sent + counts.dropped + counts.pending);
}

}  // namespace telegate
