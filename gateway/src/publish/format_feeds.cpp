#include "publish/format_feeds.hpp"

#include <algorithm>
#include <cstddef>

namespace telegate {
namespace {

void add_notices(NoticesByFormat& totals, const FormatFeed& feed) noexcept {
    NoticeTotals& total = totals[static_cast<std::size_t>(feed.format())];
    total.gaps += feed.notices().gaps;
    total.heartbeats += feed.notices().heartbeats;
}

}  // namespace

void FormatFeeds::publish_to(std::span<const FormatPublisher> publishers) {
    std::vector<std::unique_ptr<FormatFeed>> fresh(publishers.size());
    const auto known = [&](const FormatPublisher& to) {
        return std::find_if(feeds_.begin(), feeds_.end(),
                            [&](const auto& feed) { return feed != nullptr && &feed->publisher() == &to.publisher; });
    };
    for (std::size_t i = 0; i < publishers.size(); ++i) {
        if (known(publishers[i]) == feeds_.end()) {
            fresh[i] = make_format_feed(publishers[i], parts_);
        }
    }
    for (std::size_t i = 0; i < publishers.size(); ++i) {  // nothing can fail after this point
        if (fresh[i] == nullptr) {
            fresh[i] = std::move(*known(publishers[i]));
        }
    }
    feeds_.swap(fresh);
    for (const auto& feed : fresh) {
        if (feed != nullptr) {
            add_notices(removed_, *feed);
        }
    }
}

void FormatFeeds::set_labels(const SharedLabels& labels) {
    parts_.labels = labels;
    for (const auto& feed : feeds_) {
        feed->set_labels(labels);
    }
}

void FormatFeeds::heartbeat(ChannelId channel, std::uint64_t seq) {
    for (const auto& feed : feeds_) {
        feed->heartbeat(channel, seq);
    }
}

void FormatFeeds::flush() {
    for (const auto& feed : feeds_) {
        feed->flush();
    }
}

void FormatFeeds::append(PayloadFormat format, std::string& out, const TelemetrySample& sample) {
    for (const auto& feed : feeds_) {
        if (feed->format() == format) {
            return feed->append(out, sample);
        }
    }
}

NoticesByFormat FormatFeeds::notices() const noexcept {
    NoticesByFormat totals = removed_;
    for (const auto& feed : feeds_) {
        add_notices(totals, *feed);
    }
    return totals;
}

}  // namespace telegate
