#pragma once

#include "base/per_channel.hpp"
#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "core/reactor.hpp"
#include "core/watch.hpp"
#include "line/pump.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace telegate {

/// Channels that have been bad for ChannelWatch::bad_after while their device measures.
struct BadChannels {
    std::map<DeviceId, std::uint64_t> by_device;  // those that have any
    std::uint64_t count = 0;                      // of all devices
    std::vector<std::string> named;               // the first: "plc/flow (for 125 s)"

    [[nodiscard]] std::uint64_t of(DeviceId device) const;
};

/// Finds channels whose last sample is bad again and again while their device measures: a broken sensor, a wrong
/// register, a part that is gone. The data path does not know of it; the last sample of each channel is checked a few
/// times a minute.
///
/// Threads: constructor, start() and check_all() the reactor's, or any while nobody turns it; bad() any.
/// Limits:  slice_channels in one turn of the loop; 8 bytes for each channel; named_max channels are named.
/// Failure: without memory a check ends, and the next one begins on time.
class ChannelWatch {
  public:
    static constexpr std::chrono::seconds check_interval{10};
    static constexpr std::chrono::seconds bad_after{60};
    static constexpr std::size_t slice_channels = 1'024;
    static constexpr std::size_t named_max = 5;

    struct Parts {
        Reactor& reactor;
        const ChannelTable& channels;
        const Pump& pump;
        const Clock& clock;
        std::function<bool(DeviceId device)> measures;
    };

    explicit ChannelWatch(Parts parts);
    ChannelWatch(const ChannelWatch&) = delete;
    ChannelWatch& operator=(const ChannelWatch&) = delete;

    /// Begins to check every check_interval.
    void start();
    /// Checks all channels now.
    void check_all();
    /// As of the last check.
    [[nodiscard]] BadChannels bad() const;

  private:
    void check_later();
    void check_slice(std::size_t first);
    void check(ChannelId channel, MonoTime now);
    void publish();

    const Parts parts_;
    Alarm timer_;
    PerChannel<MonoTime> bad_since_;  // MonoTime(): the channel is not bad
    BadChannels found_;               // by the check in progress
    mutable std::mutex mutex_;        // guards shown_
    BadChannels shown_;
};

}  // namespace telegate
