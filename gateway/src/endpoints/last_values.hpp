#pragma once

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
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate {

/// Gives a new subscription the last value of each channel that it matches to those who have come to an endpoint that
/// has that, before anything live of the channel, or not at all. What another subscription of the same subscriber
/// matches too, it has had already.
///
/// One turn of the loop gives so much, the rest comes in later ones. A channel that has been published meanwhile is
/// left out, since the subscriber has had that sample live: the history tells which.
///
/// Threads: the reactor's.
/// Limits:  turn_bytes in a turn, of all subscribers together, who take turns. Keeps the prefixes of subscribers there,
///          which the publisher bounds, and for each that has begun or waits, twice that: what is cancelled before its
///          turn comes is forgotten, and asked for again while it is under way waits once. Per channel 24 bytes. What a
///          subscriber has no room for is counted as dropped for it, one by one. Where the history holds less than is
///          published between two turns, 512 KiB suffice, what is not given in the first turn is left out.
/// Failure: note() may throw std::bad_alloc.
class LastValues {
  public:
    /// Some 600 values, a third of a millisecond.
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
    explicit LastValues(const Parts& parts) noexcept : parts_(parts), scanned_(parts.history, 0) {}

    /// To be told of every event, before the pump takes more from the queue.
    void note(PayloadFormat format, const MonitorEvent& event);
    /// Subscribers that have not been given all that they are to get.
    [[nodiscard]] std::size_t waiting() const noexcept { return queue_.size(); }
    /// Values given, and what was to be looked at for it, in the turn for which that was most: bytes.
    [[nodiscard]] std::size_t most_in_turn() const noexcept { return most_in_turn_; }

  private:
    using Prefixes = std::set<std::string, std::less<>>;
    using Key = std::pair<PayloadFormat, std::uint64_t>;
    /// A subscription that came or went.
    struct Change {
        std::string prefix;
        std::uint64_t position;  // in the history, when it came
        bool is_cancel;
    };
    struct Subscriber {
        Prefixes known;                                                             // subscriptions whose turn has come
        std::list<Change> changes;                                                  // in the order in which they came
        std::map<std::string, std::list<Change>::iterator, std::less<>> not_begun;  // of these, those that came
        bool has_begun = false;                                                     // with the first change
        std::string given_to;                                                       // so far, in the order of topics
        bool is_queued = false;
    };

    void add(const Key& key, Subscriber& subscriber, std::string_view prefix);
    static void cancel(Subscriber& subscriber, std::string_view prefix);
    void work();
    void turn();
    [[nodiscard]] bool make_change(const Key& key, Subscriber& subscriber);
    [[nodiscard]] bool give(const Key& key, Subscriber& subscriber, const Change& change);
    void give_one(const Key& key, const TelemetrySample& sample, std::string_view topic);
    void spend(std::size_t bytes) noexcept { spent_ += bytes; }
    void look_at_history();
    void look_for_channels();

    const Parts parts_;
    std::map<Key, Subscriber> subscribers_;
    std::deque<Key> queue_;                                       // those with changes, or gone
    std::vector<std::pair<std::string_view, ChannelId>> topics_;  // sorted
    std::vector<std::uint64_t> published_;                        // by channel: behind its last, from scanned_ on
    std::vector<TelemetrySample> samples_;
    SampleCursor scanned_;      // the history before it has been read
    std::uint64_t unseen_ = 0;  // what was published before has not been seen
    std::string payload_;
    std::size_t spent_ = 0;  // in this turn
    std::size_t most_in_turn_ = 0;
    bool has_turn_ = false;  // to come
};

}  // namespace telegate
