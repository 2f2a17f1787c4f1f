#pragma once

#include "core/channel_table.hpp"
#include "device/cancel_signal.hpp"
#include "device/clock_watch.hpp"
#include "device/sample_batch.hpp"
#include "plan/plan.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace telegate {

/// What one reading of a device has brought.
struct DeviceReading {
    struct Value {
        const ChannelInfo* channel = nullptr;
        TelemetrySample last{};
        std::uint64_t samples = 0;
    };
    std::int64_t time_utc_ns = 0;  // when it began
    Duration took{0};
    std::vector<Value> values;  // of channels that had a sample, in the order of their ids
    bool has_failed = false;
    std::string what;  // what went wrong, also when only a part did; "" for nothing
};

/// One device that is read by itself, without a sampler and a queue.
///
/// Threads: one.
/// Limits:  the last sample of each channel.
/// Failure: the constructor as Driver::open().
class DeviceReader {
  public:
    /// How long a device is listened to in one reading that sends of its own accord.
    static constexpr std::chrono::seconds listen_time{3};

    explicit DeviceReader(PlannedDevice device);
    ~DeviceReader();
    DeviceReader(const DeviceReader&) = delete;
    DeviceReader& operator=(const DeviceReader&) = delete;

    /// Waits until the interval is over since the reading before.
    [[nodiscard]] DeviceReading read();
    [[nodiscard]] const ChannelTable& channels() const noexcept { return channels_; }

  private:
    [[nodiscard]] bool read_once(DeviceReading& reading);
    void take(std::span<const TelemetrySample> samples);

    const WatchedClock clock_;
    ChannelTable channels_;
    CancelSignal cancel_;  // never set; drivers with a thread of their own need one
    PlannedDevice device_;
    SampleBatch batch_;
    std::map<ChannelId, DeviceReading::Value> values_;  // of this reading
    std::optional<MonoTime> due_;
};

}  // namespace telegate
