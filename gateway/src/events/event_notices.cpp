#include "events/event_notices.hpp"

#include "device/gateway_driver.hpp"

#include <memory>
#include <vector>

namespace telegate {
namespace {

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

void publish_events(Driver& driver, const std::string& device, EventLog& events) {
    if (auto* const gateway = dynamic_cast<GatewayDriver*>(&driver)) {
        gateway->read_from(std::make_unique<EventNotices>(events), events.published_by(device));
    }
}

}  // namespace telegate
