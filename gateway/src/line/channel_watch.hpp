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

/// Channels that were bad for at least ChannelWatch::bad_after while their device is measuring.
struct BadChannels {
    std::map<DeviceId, std::uint64_t> by_device;  // devices with bad channels only
    std::uint64_t count = 0;                      // total
    std::vector<std::string> named;               // the first few: "plc/flow (for 125 s)"

    [[nodiscard]] std::uint64_t of(DeviceId device) const;
};

/// Finds channels whose last sample stays bad while their device is measuring, for example because of a broken sensor,
/// a wrong register or a missing component. Checks the last sample of each channel a few times per minute, outside the
/// data path.
///
/// Threads: constructor, start() and check_all(): the reactor's, or any while the reactor does not run; bad(): any.
/// Limits: slice_channels per event-loop iteration; 8 bytes per channel; named_max channels are named.
/// Failure: none.
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

    /// Starts to check every check_interval.
    void start();
    /// Checks all channels now.
    void check_all();
    /// Returns the result of the last check.
    [[nodiscard]] BadChannels bad() const;

  private:
    void check_later();
    void check_slice(std::size_t first);
    void check(ChannelId channel, MonoTime now);
    void publish();

    const Parts parts_;
    Alarm timer_;
    PerChannel<MonoTime> bad_since_;  // MonoTime(): not bad
    BadChannels found_;               // in the current check
    mutable std::mutex mutex_;        // guards shown_
    BadChannels shown_;
};

}  // namespace telegate
