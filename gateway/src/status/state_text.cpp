#include "status/state_text.hpp"

#include "log/log_value.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <numeric>

namespace telegate {
namespace {

std::string number(std::string_view key, std::uint64_t value) {
    return ' ' + std::string(key) + '=' + std::to_string(value);
}

std::string health_line(const HealthCheck& check) {
    return "state check=" + std::string(check.name) + " good=" + (check.good ? "true" : "false") +
           (check.detail.empty() ? "" : " why=" + log_quoted(check.detail));
}

std::string notices_text(const NoticesByFormat& notices) {
    NoticeTotals total;
    for (const NoticeTotals& each : notices) {
        total.gaps += each.gaps;
        total.beats += each.beats;
    }
    return number("gaps", total.gaps) + number("beats", total.beats);
}

std::string device_line(const DeviceStatus& device, const Books& books) {
    return "state device=" + device.name + " state=" + std::string(to_string(device.state)) +
           number("reads", device.reads) + number("reads_failed", device.reads_failed) +
           number("ticks_missed", device.ticks_missed) + ' ' + books_text(books);
}

std::string subscriber_line(const SubscriberStatus& subscriber) {
    return "state subscriber=" + std::to_string(subscriber.id) +
           " format=" + std::string(to_string(subscriber.format)) + " peer=" + log_quoted(subscriber.peer) +
           number("subscriptions", subscriber.subscriptions_count) + number("matched", subscriber.matched) +
           number("sent", subscriber.sent) + number("dropped", subscriber.dropped) +
           number("pending", subscriber.pending);
}

std::string services_line(const ServicesStatus& services) {
    const auto sum = [](const auto& counts) {
        return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    };
    return "state services" + number("endpoints", services.endpoints.size()) + number("peers", services.peers) +
           number("requests", sum(services.requests)) + number("errors", sum(services.errors)) +
           number("replays_at_work", services.replays_at_work) + number("backlog_bytes", services.backlog_bytes) +
           number("answers_lost", services.answers_lost);
}

void add_snapshot(std::vector<std::string>& lines, const StatusSnapshot& snapshot) {
    lines.push_back(
        "state gateway=" + std::string(to_string(snapshot.state)) +
        number("uptime_s",
               static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(snapshot.uptime).count())) +
        number("queue_depth", snapshot.queue_depth) + number("queue_capacity", snapshot.queue_capacity) +
        number("queue_high_water", snapshot.queue_high_water) + number("channels", snapshot.channels.size()) +
        number("messages", snapshot.publisher.messages) + number("matched", snapshot.publisher.matched) +
        number("sent", snapshot.publisher.sent) + number("dropped", snapshot.publisher.dropped) +
        notices_text(snapshot.notices) + " channels_agree=" + (snapshot.channels_agree ? "true" : "false"));
    for (std::size_t i = 0; i < snapshot.devices.size() && i < snapshot.books.size(); ++i) {
        lines.push_back(device_line(snapshot.devices[i], snapshot.books[i]));
    }
    lines.push_back(services_line(snapshot.services));
    const std::size_t named = std::min(snapshot.subscribers.size(), subscriber_lines_max);
    std::transform(snapshot.subscribers.begin(), snapshot.subscribers.begin() + static_cast<std::ptrdiff_t>(named),
                   std::back_inserter(lines), subscriber_line);
    if (named < snapshot.subscribers.size()) {
        lines.push_back("state" + number("subscribers_not_named", snapshot.subscribers.size() - named));
    }
}

}  // namespace

std::vector<std::string> state_lines(const Health& health, const std::optional<StatusSnapshot>& snapshot) {
    std::vector<std::string> lines;
    std::transform(health.checks.begin(), health.checks.end(), std::back_inserter(lines), health_line);
    if (snapshot) {
        add_snapshot(lines, *snapshot);
    } else {
        lines.push_back("state gateway=unknown why=\"the io thread did not answer in time\"");
    }
    return lines;
}

}  // namespace telegate
