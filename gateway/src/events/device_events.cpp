#include "events/device_events.hpp"

#include "device/gateway_driver.hpp"
#include "log/log_line.hpp"

#include <cstdio>
#include <memory>
#include <vector>

namespace telegate {
namespace {

EventKind kind_of(DeviceTransition transition) noexcept {
    switch (transition) {
        case DeviceTransition::failed: return EventKind::device_failed;
        case DeviceTransition::recovered: return EventKind::device_recovered;
        case DeviceTransition::safe: return EventKind::device_safe;
        case DeviceTransition::breaker_opened: return EventKind::breaker_opened;
        case DeviceTransition::breaker_closed: return EventKind::breaker_closed;
        case DeviceTransition::started: return EventKind::device_started;
        case DeviceTransition::stopped: return EventKind::device_stopped;
        case DeviceTransition::reset: return EventKind::device_reset;
        case DeviceTransition::added: return EventKind::device_added;
        case DeviceTransition::changed: return EventKind::device_changed;
        case DeviceTransition::removed: return EventKind::device_removed;
    }
    return EventKind::device_failed;
}

/// Formats seconds: "62", and "0.35" below ten seconds.
std::string seconds_text(Duration time) {
    constexpr double exact_below_s = 10.0;
    const double seconds = std::chrono::duration<double>(time).count();
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), seconds < exact_below_s ? "%.2f" : "%.0f", seconds);
    return text.data();
}

class EventNotices final : public NoticeSource {
  public:
    explicit EventNotices(const EventLog& events) noexcept : events_(events) {}

    [[nodiscard]] std::uint64_t last_number() const noexcept override { return events_.last_number(); }

    [[nodiscard]] std::vector<GatewayNotice> after(std::uint64_t number) const override {
        std::vector<GatewayNotice> notices;
        for (const EventEntry& entry : events_.after(number)) {
            const Event& event = *entry.event;
            std::string text(to_string(event.kind));
            text += event.device.empty() ? "" : ' ' + event.device;
            text += event.channel.empty() ? "" : '/' + event.channel;
            notices.push_back({entry.number, event.time_utc_ns, std::move(text)});
        }
        return notices;
    }

  private:
    const EventLog& events_;
};

}  // namespace

Event to_event(const DeviceNews& news) {
    Event event{.time_utc_ns = news.time_utc_ns, .device = std::string(news.device), .kind = kind_of(news.transition)};
    const bool is_over = news.transition == DeviceTransition::recovered;
    if (is_over) {
        event.fields.number("after_s", seconds_text(news.outage));
    }
    if (news.transition == DeviceTransition::breaker_opened) {
        event.fields.add("retry_ms", std::chrono::ceil<std::chrono::milliseconds>(news.retry_after).count());
    }
    if (news.reads_failed > 0) {
        event.fields.add("reads_failed", news.reads_failed);
    }
    if (is_over) {
        event.fields.add("samples_missed", news.samples_missed);
    }
    if (!news.why.empty()) {
        event.fields.quote("reason", news.why);
    }
    return event;
}

void publish_events(Driver& driver, const std::string& device, EventLog& events) {
    if (auto* const gateway = dynamic_cast<GatewayDriver*>(&driver)) {
        gateway->read_from(std::make_unique<EventNotices>(events), events.published_by(device));
    }
}

}  // namespace telegate
