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

/// Publishes a heartbeat notice for each channel that has been silent for an interval, so that the loss of its last
/// sample shows. A channel is checked several times per interval, so a heartbeat is late by a fraction of it at most.
/// There are none while a subscriber must be waited for.
///
/// Threads: the reactor's, or any while nobody turns it; it and the rest outlive this.
/// Limits:  slice_channels in one turn of the loop; 16 bytes for each channel once there are beats.
/// Failure: the first look at a channel may throw std::bad_alloc.
class Heartbeats {
  public:
    static constexpr std::size_t slice_channels = 256;
    static constexpr int looks_per_interval = 8;
    /// Between two looks: not shorter, so that the loop rests, nor longer, so that what the queue has lost is told.
    static constexpr std::chrono::milliseconds look_min{5};
    static constexpr std::chrono::milliseconds look_max{1'000};

    Heartbeats(Reactor& reactor, const ChannelTable& channels, Pump& pump, FormatFeeds& feeds);
    Heartbeats(const Heartbeats&) = delete;
    Heartbeats& operator=(const Heartbeats&) = delete;

    /// From now on; 0: none.
    void set_interval(std::chrono::milliseconds interval);

  private:
    /// What a channel had reached, and when that was first seen or told of.
    struct Silence {
        std::uint64_t seq = 0;
        MonoTime since{};
    };

    void look_again();
    void look();
    /// Of those from `first` on. Goes on in the next turn of the loop, unless the interval has changed meanwhile.
    void look_at_slice(std::size_t first, std::uint64_t round);
    void look_at(ChannelId channel, MonoTime now);

    Reactor& reactor_;
    const ChannelTable& channels_;
    Pump& pump_;
    FormatFeeds& feeds_;
    const SystemClock clock_;
    std::chrono::milliseconds interval_{0};
    std::uint64_t round_ = 0;  // of looks at all channels
    PerChannel<Silence> silences_;
    Alarm timer_;
};

}  // namespace telegate
