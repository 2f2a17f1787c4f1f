#include "publish/heartbeats.hpp"

#include <algorithm>

namespace telegate {

Heartbeats::Heartbeats(Reactor& reactor, const ChannelTable& channels, Pump& pump, FormatFeeds& feeds)
    : reactor_(reactor), channels_(channels), pump_(pump), feeds_(feeds), silences_(channels), timer_(reactor, [this] {
          check_all();
      }) {}

void Heartbeats::set_interval(std::chrono::milliseconds interval) {
    if (interval == interval_) {
        return;
    }
    interval_ = interval;
    ++round_;
    timer_.cancel();
    if (interval > std::chrono::milliseconds(0)) {
        timer_.set(std::chrono::milliseconds(0));
    }
}

void Heartbeats::check_all() {
    pump_.pump_some();  // publishes pending gap notices first
    check_slice(0, ++round_);
}

void Heartbeats::check_slice(std::size_t first, std::uint64_t round) {
    if (round != round_) {
        return;
    }
    // a heartbeat notice would push out data that the blocking subscriber has not received yet
    if (pump_.must_wait()) {
        return schedule_check();
    }
    const std::size_t end = std::min(first + slice_channels, channels_.size());
    const MonoTime now = clock_.mono_now();
    for (std::size_t index = first; index < end; ++index) {
        check(static_cast<ChannelId>(index), now);
    }
    feeds_.flush();
    if (end < channels_.size()) {
        return reactor_.post([this, end, round] { check_slice(end, round); });
    }
    schedule_check();
}

void Heartbeats::schedule_check() {
    timer_.set(std::clamp(interval_ / checks_per_interval, check_min, check_max));
}

void Heartbeats::check(ChannelId channel, MonoTime now) {
    Silence& silence = silences_.of(channel, [](const ChannelInfo&) { return Silence{UINT64_MAX, {}}; });
    const std::uint64_t reached = pump_.reached(channel);
    if (reached != silence.seq) {
        silence = {reached, now};
    } else if (now - silence.since >= interval_ && channels_.is_current(channel)) {
        silence.since = now;
        feeds_.heartbeat(channel, reached);
    }
}

}  // namespace telegate
