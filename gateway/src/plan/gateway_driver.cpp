#include "plan/gateway_driver.hpp"

#include "device/clock_driver.hpp"
#include "plan/drivers.hpp"

#include <atomic>
#include <cstdint>
#include <new>
#include <optional>
#include <string>
#include <vector>

namespace telegate {
namespace {

/// Threads: those of Driver. It waits for a thread that copies pointers of the ring, some microseconds.
/// Limits:  allocates for events only. Those that the ring has overwritten before they were read count as lost at
///          source.
/// Failure: without memory events are published by a later read.
class GatewayDriver final : public Driver {
  public:
    void open(SampleBatch& batch) override {
        clock_->open(batch);
        channel_ = batch.add_channel("events", "");
    }

    [[nodiscard]] std::optional<std::vector<std::string>> later_channels() const override {
        return clock_->later_channels();
    }

    ReadResult read(SampleBatch& batch, MonoTime now) noexcept override {
        const ReadResult result = clock_->read(batch, now);
        if (events_ != nullptr && events_->last_number() != *published_) {
            try {
                publish(batch);
            } catch (const std::bad_alloc&) {  // the ring still has them at the next read
            }
        }
        return result;
    }

    void reset() noexcept override { clock_->reset(); }

    void read_from(EventLog& events, const std::string& device) {
        published_ = events.published_by(device);
        events_ = &events;
    }

  private:
    /// Each at its own time. The clock's channels come first, so that their time is that of the read.
    void publish(SampleBatch& batch) {
        const ClockPair now = read_both(batch.clock());
        for (const EventEntry& entry : events_->after(*published_)) {
            const Event& event = *entry.event;
            std::string text(to_string(event.kind));
            text += event.device.empty() ? "" : ' ' + event.device;
            text += event.channel.empty() ? "" : '/' + event.channel;
            batch.stamp(event.time_utc_ns, now.mono_ns - (now.utc_ns - event.time_utc_ns));
            batch.add(channel_, std::string_view(text));
            batch.lost_at_source(entry.number - *published_ - 1);
            *published_ = entry.number;
        }
    }

    const std::unique_ptr<Driver> clock_ = make_clock_driver();
    const EventLog* events_ = nullptr;
    std::shared_ptr<std::atomic<std::uint64_t>> published_;  // up to this number
    SampleBatch::Channel channel_ = SampleBatch::Channel::none;
};

}  // namespace

std::unique_ptr<Driver> make_gateway_driver() {
    return std::make_unique<GatewayDriver>();
}

std::unique_ptr<Driver> make_gateway(const DeviceSettings& /*device*/, DeviceChannels /*channels*/) {
    return make_gateway_driver();
}

void read_events_from(Driver& driver, const std::string& device, EventLog& events) {
    if (auto* const gateway = dynamic_cast<GatewayDriver*>(&driver)) {
        gateway->read_from(events, device);
    }
}

}  // namespace telegate
