#include "endpoints/last_values.hpp"

#include <algorithm>
#include <iterator>
#include <span>

namespace telegate {
namespace {

constexpr std::size_t look_bytes = 64;     // cost of checking a topic, as bytes of payload
constexpr std::size_t compare_bytes = 16;  // and of comparing a prefix of the topic
constexpr std::size_t samples_read = 256;

bool matches_any(const std::set<std::string, std::less<>>& prefixes, std::string_view topic) {
    for (std::size_t size = 0; size <= topic.size() && !prefixes.empty(); ++size) {
        if (prefixes.contains(topic.substr(0, size))) {
            return true;
        }
    }
    return false;
}

}  // namespace

void LastValues::record(PayloadFormat format, const MonitorEvent& event) {
    const Key key{format, event.peer_id};
    const auto with_subscriber = [&](const auto& call) {
        const auto found = subscribers_.find(key);
        if (found != subscribers_.end()) {
            call(found->second);
        }
    };
    switch (event.kind) {  // events of other subscribers come before the subscriber is created
        case MonitorEventKind::handshake_done:
            if (parts_.publishers.has_last_value(format, event.endpoint)) {
                subscribers_[key];
            }
            return;
        case MonitorEventKind::subscribed:
            return with_subscriber([&](Subscriber& subscriber) { add(key, subscriber, event.detail); });
        case MonitorEventKind::unsubscribed:
            return with_subscriber([&](Subscriber& subscriber) { cancel(subscriber, event.detail); });
        case MonitorEventKind::disconnected: subscribers_.erase(key); return;
        default: return;
    }
}

void LastValues::add(const Key& key, Subscriber& subscriber, std::string_view prefix) {
    if (queue_.empty()) {
        scanned_ = SampleCursor(parts_.history, parts_.history.position());  // no subscription needs earlier samples
    }
    subscriber.changes.push_back({std::string(prefix), parts_.history.position(), false});
    subscriber.not_begun[std::string(prefix)] = std::prev(subscriber.changes.end());
    if (!subscriber.is_queued) {
        queue_.push_back(key);
        subscriber.is_queued = true;
    }
    work();
}

/// A subscription that has begun completes, so that it is known what the subscriber received.
void LastValues::cancel(Subscriber& subscriber, std::string_view prefix) {
    const auto not_begun = subscriber.not_begun.find(prefix);
    if (not_begun != subscriber.not_begun.end()) {
        subscriber.changes.erase(not_begun->second);
        subscriber.not_begun.erase(not_begun);
    } else if (subscriber.is_queued) {
        subscriber.changes.push_back({std::string(prefix), 0, true});
    } else {
        subscriber.known.erase(std::string(prefix));
    }
}

void LastValues::turn() {
    has_turn_ = false;
    spent_ = 0;
    work();
}

void LastValues::work() {
    scan_history();
    while (!queue_.empty() && spent_ < turn_bytes) {
        const Key key = queue_.front();
        queue_.pop_front();
        const auto found = subscribers_.find(key);
        spend(look_bytes);
        if (found == subscribers_.end()) {
            continue;
        }
        found->second.is_queued = make_change(key, found->second);
        if (found->second.is_queued) {
            queue_.push_back(key);
        }
    }
    most_in_turn_ = std::max(most_in_turn_, spent_);
    if (spent_ > 0 && !has_turn_) {
        has_turn_ = true;
        parts_.reactor.post([this] { turn(); });
    }
}

/// Processes the first change, or part of it. Returns whether more changes remain.
bool LastValues::make_change(const Key& key, Subscriber& subscriber) {
    if (subscriber.changes.empty()) {
        return false;
    }
    const Change& change = subscriber.changes.front();
    if (change.is_cancel) {
        subscriber.known.erase(change.prefix);
    } else {
        if (!subscriber.has_begun) {
            subscriber.not_begun.erase(change.prefix);
            subscriber.has_begun = true;
            subscriber.given_to.reset();
        }
        if (!send(key, subscriber, change)) {
            return true;
        }
        subscriber.known.insert(change.prefix);
        subscriber.has_begun = false;
    }
    subscriber.changes.pop_front();
    return !subscriber.changes.empty();
}

/// Returns false if the limit of the iteration is reached before all values are sent.
bool LastValues::send(const Key& key, Subscriber& subscriber, const Change& change) {
    std::string_view after;
    if (subscriber.given_to) {
        after = parts_.channels.at(*subscriber.given_to).topic;
    }
    const std::span<const ChannelId> page = topics_.page(change.prefix, after);
    published_.resize(parts_.channels.size());
    for (const ChannelId channel : page) {
        if (spent_ >= turn_bytes) {
            return false;
        }
        subscriber.given_to = channel;
        const std::string& topic = parts_.channels.at(channel).topic;
        spend(look_bytes + (subscriber.known.empty() ? 0 : compare_bytes * topic.size()));
        const TelemetrySample* const last = parts_.pump.last(channel);
        const bool was_live = published_[to_index(channel)] > change.position || unseen_ > change.position;
        if (last != nullptr && !was_live && !matches_any(subscriber.known, topic)) {
            send_one(key, *last, topic);
        }
    }
    return true;
}

void LastValues::send_one(const Key& key, const TelemetrySample& sample, std::string_view topic) {
    payload_.clear();
    parts_.feeds.append(key.first, payload_, sample);
    spend(payload_.size());
    const SampleRange samples{sample.channel, sample.seq, sample.seq};
    if (!parts_.publishers.publisher_of(key.first).send_to(key.second, topic, payload_, samples)) {
        parts_.gaps.record_left_out(key.first, key.second, {sample.channel, sample.seq});
    }
}

/// Records which channels were published since the last call.
void LastValues::scan_history() {
    if (scanned_.position() == parts_.history.position()) {
        return;
    }
    samples_.resize(samples_read);
    published_.resize(parts_.channels.size());
    while (scanned_.position() < parts_.history.position()) {
        const SampleCursor::Read read = scanned_.read(samples_);
        unseen_ = read.missed > 0 ? scanned_.position() : unseen_;
        for (std::size_t i = 0; i < read.count; ++i) {
            published_[to_index(samples_[i].channel)] = scanned_.position() + i + 1;
        }
        scanned_.advance(read.count);
    }
}

}  // namespace telegate
