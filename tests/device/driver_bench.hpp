#pragma once

#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "device/driver.hpp"
#include "support/catch.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::test {

/// A driver with its batch, used as by the sampler, and the samples that it added.
class DriverBench {
  public:
    explicit DriverBench(std::unique_ptr<Driver> driver, std::string device = "device")
        : device_(std::move(device)), driver_(std::move(driver)) {
        driver_->cancel_with(cancel);
        driver_->open(batch_);
        batch_.go_on_from({});
    }

    /// Runs one tick. Afterwards samples() are those of this tick.
    ReadResult read() { return read_at(clock_.mono_now()); }
    ReadResult read_at(MonoTime now) {
        samples_.clear();
        batch_.begin(clock_.utc_now_ns(), to_ns(now));
        const ReadResult result = driver_->read(batch_, now);
        what = std::string(result.what);
        batch_.flush();
        return result;
    }
    bool reads_ok() { return read().status == ReadResult::Status::ok; }

    [[nodiscard]] Driver& driver() { return *driver_; }
    [[nodiscard]] SampleBatch& batch() { return batch_; }
    [[nodiscard]] const ChannelTable& channels() const { return channels_; }
    [[nodiscard]] ChannelTable& channels() { return channels_; }
    [[nodiscard]] const std::vector<TelemetrySample>& samples() const { return samples_; }
    [[nodiscard]] const std::string& name_of(const TelemetrySample& sample) const {
        return channels_.at(sample.channel).channel;
    }
    /// Of this tick, by channel; and all of them, in order.
    [[nodiscard]] std::vector<TelemetrySample> samples_of(std::string_view channel) const {
        std::vector<TelemetrySample> found;
        for (const TelemetrySample& sample : samples_) {
            if (name_of(sample) == channel) {
                found.push_back(sample);
            }
        }
        return found;
    }
    /// Returns the only sample of the channel in this tick.
    [[nodiscard]] TelemetrySample sample_of(std::string_view channel) const {
        CAPTURE(channel);
        const auto found = samples_of(channel);
        REQUIRE(found.size() == 1);
        return found.front();
    }

    CancelSignal cancel;
    std::string what;  // of the last read

  private:
    const std::string device_;
    const SystemClock clock_;
    ChannelTable channels_;
    std::vector<TelemetrySample> samples_;
    SampleBatch batch_{clock_, channels_, {DeviceId{0}, device_}, [this](std::span<const TelemetrySample> more) {
                           samples_.insert(samples_.end(), more.begin(), more.end());
                       }};
    std::unique_ptr<Driver> driver_;
};

}  // namespace telegate::test
