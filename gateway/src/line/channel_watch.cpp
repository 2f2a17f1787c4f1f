#include "line/channel_watch.hpp"

#include <algorithm>
#include <utility>

namespace telegate {

std::uint64_t BadChannels::of(DeviceId device) const {
    const auto found = by_device.find(device);
    return found == by_device.end() ? 0 : found->second;
}

ChannelWatch::ChannelWatch(Parts parts)
    : parts_(std::move(parts)),
      timer_(parts_.reactor,
             [this] {
                 check_later();
                 found_ = {};
                 check_slice(0);
             }),
      bad_since_(parts_.channels) {}

void ChannelWatch::start() {
    check_later();
}

void ChannelWatch::check_later() {
    timer_.set(check_interval);
}

void ChannelWatch::check_slice(std::size_t first) {
    const std::size_t end = std::min(first + slice_channels, parts_.channels.size());
    const MonoTime now = parts_.clock.mono_now();
    for (std::size_t index = first; index < end; ++index) {
        check(static_cast<ChannelId>(index), now);
    }
    if (end < parts_.channels.size()) {
        return parts_.reactor.post([this, end] { check_slice(end); });
    }
    publish();
}

void ChannelWatch::check_all() {
    found_ = {};
    const MonoTime now = parts_.clock.mono_now();
    for (std::size_t index = 0; index < parts_.channels.size(); ++index) {
        check(static_cast<ChannelId>(index), now);
    }
    publish();
}

void ChannelWatch::check(ChannelId channel, MonoTime now) {
    MonoTime& since = bad_since_.of(channel, [](const ChannelInfo&) { return MonoTime(); });
    const ChannelInfo& info = parts_.channels.at(channel);
    const TelemetrySample* const last = parts_.pump.last(channel);
    if (last == nullptr || last->quality != Quality::bad || !parts_.measures(info.device_id)) {
        since = MonoTime();
        return;
    }
    if (since == MonoTime()) {
        since = now;
    }
    since = std::max(since, parts_.pump.bad_from(channel));  // it was good between two checks
    if (now - since < bad_after) {
        return;
    }
    ++found_.by_device[info.device_id];
    ++found_.count;
    if (found_.named.size() < named_max) {
        const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - since);
        found_.named.push_back(info.topic + " (for " + std::to_string(seconds.count()) + " s)");
    }
}

void ChannelWatch::publish() {
    const std::lock_guard lock(mutex_);
    std::swap(shown_, found_);
}

BadChannels ChannelWatch::bad() const {
    const std::lock_guard lock(mutex_);
    return shown_;
}

}  // namespace telegate
