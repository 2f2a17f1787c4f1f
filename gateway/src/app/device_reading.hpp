#pragma once

#include "core/channel_table.hpp"
#include "device/cancel_signal.hpp"
#include "device/clock_watch.hpp"
#include "device/sample_batch.hpp"
#include "plan/plan.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace telegate {

/// The result of one reading of a device.
struct DeviceReading {
    struct Value {
        const ChannelInfo* channel = nullptr;
        TelemetrySample last{};
        std::uint64_t samples = 0;
    };
    std::int64_t time_utc_ns = 0;  // start of the reading
    Duration took{0};
    std::vector<Value> values;  // of channels with a sample, ordered by id
    bool has_failed = false;
    std::string what;  // the error, including that of a partial failure; "": none
};

/// Reads one device without a sampler and a queue.
///
/// Threads: one.
/// Limits: the last sample of each channel.
/// Failure: the constructor throws like Driver::open().
class DeviceReader {
  public:
    /// Duration of one reading of a device that sends on its own.
    static constexpr std::chrono::seconds listen_time{3};

    explicit DeviceReader(PlannedDevice device);
    ~DeviceReader();
    DeviceReader(const DeviceReader&) = delete;
    DeviceReader& operator=(const DeviceReader&) = delete;

    /// Reads the device. Waits first until one interval has passed since the previous reading began.
    [[nodiscard]] DeviceReading read();
    [[nodiscard]] const ChannelTable& channels() const noexcept { return channels_; }

  private:
    [[nodiscard]] bool read_once(DeviceReading& reading);
    void add(std::span<const TelemetrySample> samples);

    const WatchedClock clock_;
    ChannelTable channels_;
    CancelSignal cancel_;  // never set; drivers with their own thread require one
    PlannedDevice device_;
    SampleBatch batch_;
    std::map<ChannelId, DeviceReading::Value> values_;  // of this reading
    std::optional<MonoTime> due_;
};

}  // namespace telegate
