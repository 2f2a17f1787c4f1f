#pragma once

#include "base/per_channel.hpp"
#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "core/reactor.hpp"
#include "core/watch.hpp"
#include "line/pump.hpp"
#include "publish/format_feeds.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace telegate {

/// Publishes a heartbeat notice for each channel without samples for an interval, so that subscribers can detect the
/// loss of its last sample. Each channel is checked several times per interval, so a heartbeat is late by at most a
/// fraction of the interval. No heartbeats are published while a blocking subscriber is behind.
///
/// Threads: the reactor's, or any while the reactor is not running; all references must outlive this object.
/// Limits: checks slice_channels per event-loop iteration; uses 16 bytes per channel once heartbeats are enabled.
/// Failure: the first check of a channel may throw std::bad_alloc.
class Heartbeats {
  public:
    static constexpr std::size_t slice_channels = 256;
    static constexpr int checks_per_interval = 8;
    /// Limits of the time between two checks: not shorter, to keep the event loop idle; not longer, so that losses of
    /// the queue are reported soon.
    static constexpr std::chrono::milliseconds check_min{5};
    static constexpr std::chrono::milliseconds check_max{1'000};

    Heartbeats(Reactor& reactor, const ChannelTable& channels, Pump& pump, FormatFeeds& feeds);
    Heartbeats(const Heartbeats&) = delete;
    Heartbeats& operator=(const Heartbeats&) = delete;

    /// Sets the interval; 0 disables heartbeats.
    void set_interval(std::chrono::milliseconds interval);

  private:
    /// The last sequence number of a channel, and when it was first seen or last published.
    struct Silence {
        std::uint64_t seq = 0;
        MonoTime since{};
    };

    void schedule_check();
    void check_all();
    /// Checks the channels, starting at `first`. Continues in the next event-loop iteration, unless the interval has
    /// changed in the meantime.
    void check_slice(std::size_t first, std::uint64_t round);
    void check(ChannelId channel, MonoTime now);

    Reactor& reactor_;
    const ChannelTable& channels_;
    Pump& pump_;
    FormatFeeds& feeds_;
    const SystemClock clock_;
    std::chrono::milliseconds interval_{0};
    std::uint64_t round_ = 0;  // counts the checks of all channels
    PerChannel<Silence> silences_;
    Alarm timer_;
};

}  // namespace telegate
