#include "device/gateway_driver.hpp"

#include "clock/clock_driver.hpp"

#include <optional>
#include <utility>

namespace telegate {
namespace {

/// Threads: those of Driver. A read waits for a thread that copies pointers of the ring, which takes microseconds.
/// Limits: allocates for events only.
/// Failure: reading never fails.
class ClockAndNotices final : public GatewayDriver {
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
        if (source_ != nullptr && source_->last_number() != *published_) {
            publish(batch);
        }
        return result;
    }

    void reset() noexcept override { clock_->reset(); }

    void read_from(std::unique_ptr<const NoticeSource> source,
                   std::shared_ptr<std::atomic<std::uint64_t>> published) override {
        published_ = std::move(published);
        source_ = std::move(source);
    }

  private:
    /// Each notice carries its own time. The channels of the clock come first, so they carry the time of the read.
    void publish(SampleBatch& batch) {
        const ClockPair now = read_both(batch.clock());
        for (const GatewayNotice& notice : source_->after(*published_)) {
            batch.stamp(notice.time_utc_ns, now.mono_ns - (now.utc_ns - notice.time_utc_ns));
            batch.add(channel_, std::string_view(notice.text));
            batch.lost_at_source(notice.number - *published_ - 1);
            *published_ = notice.number;
        }
    }

    const std::unique_ptr<Driver> clock_ = make_clock_driver();
    std::unique_ptr<const NoticeSource> source_;
    std::shared_ptr<std::atomic<std::uint64_t>> published_;  // the last notice to publish
    SampleBatch::Channel channel_ = SampleBatch::Channel::none;
};

}  // namespace

std::unique_ptr<GatewayDriver> make_gateway_driver() {
    return std::make_unique<ClockAndNotices>();
}

}  // namespace telegate
