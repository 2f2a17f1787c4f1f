#include "line/notices.hpp"

#include <algorithm>
#include <utility>

namespace telegate {
namespace {

std::string topic_of(const GapNotice& /*notice*/, const ChannelInfo& channel) {
    return gap_topic(channel);
}

std::string topic_of(const BeatNotice& /*notice*/, const ChannelInfo& channel) {
    return beat_topic(channel);
}

}  // namespace

void Notices::publish_to(std::span<const FormatPublisher> publishers) {
    std::vector<Outlet> outlets;
    for (const FormatPublisher& to : publishers) {
        const auto known = std::find_if(outlets_.begin(), outlets_.end(),
                                        [&](const Outlet& before) { return before.publisher == &to.publisher; });
        if (known != outlets_.end()) {
            outlets.push_back(std::move(*known));
        } else {
            outlets.push_back({to.format, &to.publisher, NoticeEncoder(to.format, channels_, epoch_ms_),
                               Topics(channels_), Topics(channels_)});
        }
    }
    outlets_.swap(outlets);
}

template <class Notice>
bool Notices::publish(Outlet& outlet, Topics& topics, const Notice& notice) {
    if (!outlet.publisher->has_subscriptions()) {
        return false;
    }
    std::optional<TopicId>& topic = topics.of(notice.channel, [](const ChannelInfo&) { return std::nullopt; });
    if (!topic) {
        topic = outlet.publisher->intern(topic_of(notice, channels_.at(notice.channel)));
    }
    if (!outlet.publisher->wanted(*topic)) {
        return false;
    }
    payload_.clear();
    outlet.encoder.append(notice, payload_);
    outlet.publisher->send(*topic, payload_);
    return true;
}

void Notices::gap(ChannelId channel, std::uint64_t first_seq, std::uint64_t last_seq, DropReason reason) {
    const GapNotice notice{channel, first_seq, last_seq, to_string(reason), clock_.utc_now_ns()};
    for (Outlet& outlet : outlets_) {
        if (publish(outlet, outlet.gap_topics, notice)) {
            ++totals_[static_cast<std::size_t>(outlet.format)].gaps;
        }
    }
}

void Notices::beat(ChannelId channel, std::uint64_t seq) {
    const BeatNotice notice{channel, seq, clock_.utc_now_ns()};
    for (Outlet& outlet : outlets_) {
        if (publish(outlet, outlet.beat_topics, notice)) {
            ++totals_[static_cast<std::size_t>(outlet.format)].beats;
        }
    }
}

}  // namespace telegate
