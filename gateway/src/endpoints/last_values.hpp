#pragma once

#include "base/topic_order.hpp"
#include "config/payload_format.hpp"
#include "core/channel_table.hpp"
#include "core/monitor.hpp"
#include "core/reactor.hpp"
#include "endpoints/publishers.hpp"
#include "line/history.hpp"
#include "line/pump.hpp"
#include "line/sample_cursor.hpp"
#include "publish/format_feeds.hpp"
#include "publish/slow_gaps.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// Sends a new subscription the last value of each matching channel, at endpoints with that setting. A last value is
/// sent before any live sample of its channel, or not at all, and only once if several subscriptions of the subscriber
/// match it.
///
/// Each event-loop iteration sends a limited amount; the rest follows in later iterations. A channel that was published
/// in the meantime, according to the history, is omitted, because the subscriber received that sample live.
///
/// Threads: the reactor's.
/// Limits: turn_bytes per iteration for all subscribers together, in round-robin order. Keeps the prefixes of these
/// subscribers, which the publisher limits, and twice that for each subscription that is in progress or pending: a
/// pending one that is canceled is removed, and one that is requested again while in progress is queued once. 12 bytes
/// per channel. Values that do not fit the subscriber's limits are counted individually as dropped. If more is
/// published between two iterations than the history holds (512 KiB suffice), values that were not sent in the first
/// iteration are omitted.
/// Failure: record() may throw std::bad_alloc.
class LastValues {
  public:
    /// About 600 values, a third of a millisecond.
    static constexpr std::size_t turn_bytes = 128UL * 1024;

    struct Parts {
        Reactor& reactor;
        const ChannelTable& channels;
        Publishers& publishers;
        const Pump& pump;
        FormatFeeds& feeds;
        const History& history;
        SlowGaps& gaps;
    };
    explicit LastValues(const Parts& parts) noexcept
        : parts_(parts), topics_(parts.channels), scanned_(parts.history, 0) {}

    /// Must be called for every event, before the pump takes more samples from the queue.
    void record(PayloadFormat format, const MonitorEvent& event);
    /// Returns the number of subscribers with pending values.
    [[nodiscard]] std::size_t waiting() const noexcept { return queue_.size(); }
    /// Returns the maximum cost of one iteration: bytes of values plus checks, see turn_bytes.
    [[nodiscard]] std::size_t most_in_turn() const noexcept { return most_in_turn_; }

  private:
    using Prefixes = std::set<std::string, std::less<>>;
    using Key = std::pair<PayloadFormat, std::uint64_t>;
    /// A subscribe or unsubscribe.
    struct Change {
        std::string prefix;
        std::uint64_t position;  // of the history when the change arrived
        bool is_cancel;
    };
    struct Subscriber {
        Prefixes known;                                                             // completed subscriptions
        std::list<Change> changes;                                                  // in order of arrival
        std::map<std::string, std::list<Change>::iterator, std::less<>> not_begun;  // pending changes
        bool has_begun = false;                                                     // the first change has begun
        std::optional<ChannelId> given_to;  // of the first change, the last channel in the order of topics
        bool is_queued = false;
    };

    void add(const Key& key, Subscriber& subscriber, std::string_view prefix);
    static void cancel(Subscriber& subscriber, std::string_view prefix);
    void work();
    void turn();
    [[nodiscard]] bool make_change(const Key& key, Subscriber& subscriber);
    [[nodiscard]] bool send(const Key& key, Subscriber& subscriber, const Change& change);
    void send_one(const Key& key, const TelemetrySample& sample, std::string_view topic);
    void spend(std::size_t bytes) noexcept { spent_ += bytes; }
    void scan_history();

    const Parts parts_;
    std::map<Key, Subscriber> subscribers_;
    std::deque<Key> queue_;  // subscribers with changes; some may be disconnected
    TopicOrder topics_;
    std::vector<std::uint64_t> published_;  // by channel: position after its last sample
    std::vector<TelemetrySample> samples_;
    SampleCursor scanned_;      // position up to which the history was read
    std::uint64_t unseen_ = 0;  // samples before it may have been missed
    std::string payload_;
    std::size_t spent_ = 0;  // in this iteration
    std::size_t most_in_turn_ = 0;
    bool has_turn_ = false;  // turn() is scheduled
};

}  // namespace telegate
