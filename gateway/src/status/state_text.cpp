#include "status/state_text.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <numeric>

namespace telegate {
namespace {

LogLine health_line(const HealthCheck& check) {
    LogLine line = LogLine("state").add("check", check.name).add("good", check.good);
    return check.detail.empty() ? line : line.quote("reason", check.detail);
}

LogFields notices_fields(const NoticesByFormat& notices) {
    NoticeTotals total;
    for (const NoticeTotals& each : notices) {
        total.gaps += each.gaps;
        total.heartbeats += each.heartbeats;
    }
    return LogFields().add("gaps", total.gaps).add("beats", total.heartbeats);
}

LogLine device_line(const DeviceStatus& device, const LedgerCounts& counts) {
    return LogLine("state")
        .add("device", device.name)
        .add("state", to_string(device.state))
        .add("reads", device.reads)
        .add("reads_failed", device.reads_failed)
        .add("ticks_missed", device.ticks_missed)
        .append(ledger_fields(counts));
}

LogLine subscriber_line(const SubscriberStatus& subscriber) {
    return LogLine("state")
        .add("subscriber", subscriber.id)
        .add("format", to_string(subscriber.format))
        .quote("peer", subscriber.peer)
        .add("subscriptions", subscriber.subscriptions_count)
        .add("matched", subscriber.matched)
        .add("sent", subscriber.sent)
        .add("dropped", subscriber.dropped)
        .add("pending", subscriber.pending);
}

LogLine services_line(const ServicesStatus& services) {
    const auto sum = [](const auto& counts) {
        return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    };
    return LogLine("state services")
        .add("endpoints", services.endpoints.size())
        .add("peers", services.peers)
        .add("requests", sum(services.requests))
        .add("errors", sum(services.errors))
        .add("replays_active", services.replays_active)
        .add("backlog_bytes", services.backlog_bytes)
        .add("replies_lost", services.replies_lost);
}

LogLine gateway_line(const StatusSnapshot& snapshot) {
    return LogLine("state")
        .add("gateway", to_string(snapshot.state))
        .add("uptime_s", std::chrono::duration_cast<std::chrono::seconds>(snapshot.uptime).count())
        .add("queue_depth", snapshot.queue_depth)
        .add("queue_capacity", snapshot.queue_capacity)
        .add("queue_high_water", snapshot.queue_high_water)
        .add("channels", snapshot.channels.size())
        .add("messages", snapshot.publisher.messages)
        .add("matched", snapshot.publisher.matched)
        .add("sent", snapshot.publisher.sent)
        .add("dropped", snapshot.publisher.dropped)
        .append(notices_fields(snapshot.notices))
        .add("channels_agree", snapshot.channels_agree);
}

void add_snapshot(std::vector<LogLine>& lines, const StatusSnapshot& snapshot) {
    lines.push_back(gateway_line(snapshot));
    for (std::size_t i = 0; i < snapshot.devices.size() && i < snapshot.ledger.size(); ++i) {
        lines.push_back(device_line(snapshot.devices[i], snapshot.ledger[i]));
    }
    lines.push_back(services_line(snapshot.services));
    const std::size_t named = std::min(snapshot.subscribers.size(), subscriber_lines_max);
    std::transform(snapshot.subscribers.begin(), snapshot.subscribers.begin() + static_cast<std::ptrdiff_t>(named),
                   std::back_inserter(lines), subscriber_line);
    if (named < snapshot.subscribers.size()) {
        lines.push_back(LogLine("state").add("subscribers_not_named", snapshot.subscribers.size() - named));
    }
}

}  // namespace

std::vector<LogLine> state_lines(const Health& health, const std::optional<StatusSnapshot>& snapshot) {
    std::vector<LogLine> lines;
    std::transform(health.checks.begin(), health.checks.end(), std::back_inserter(lines), health_line);
    if (snapshot) {
        add_snapshot(lines, *snapshot);
    } else {
        lines.push_back(
            LogLine("state").add("gateway", "unknown").quote("reason", "the I/O thread did not respond in time"));
    }
    return lines;
}

std::string_view to_string(GatewayState state) noexcept {
    switch (state) {
        case GatewayState::starting: return "starting";
        case GatewayState::running: return "running";
        case GatewayState::stopping: return "stopping";
    }
    return "";
}

}  // namespace telegate
