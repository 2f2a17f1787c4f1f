#pragma once

#include "config/payload_format.hpp"
#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "core/delivery.hpp"
#include "publish/slow_gaps_runs.hpp"
#include "publish/slow_gaps_store.hpp"
#include "publish/subscriber_status.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>

namespace telegate {

/// The samples that slow subscribers have missed and that are not reported to them yet: ranges of sequence numbers per
/// channel, reported by `$gap` notices at the position of the missing samples.
///
/// Threads: any, under a mutex that the I/O threads of publishers hold once per lost run.
/// Limits: entries_max entries for all subscribers together, plus those added in one run. Beyond the limit, the
/// subscriber that uses the most is closed and counted. Adjacent ranges are merged, so a subscriber has many ranges
/// only if lost and received samples alternate.
/// Failure: lack of memory ends the process, because hooks must not throw.
class SlowGaps {
  public:
    /// Uses up to 24 MB, or 80 MB if every channel has a range before its latest; see GapStore. Enough for fifteen
    /// channels on each of the connections that one format can have, or for every channel on fifteen connections.
    static constexpr std::size_t entries_max = 1'000'000;

    /// Closes a subscriber's connection, but not during this call.
    using Close = std::function<void(PayloadFormat format, std::uint64_t id)>;
    struct Parts {
        const ChannelTable& channels;
        const Clock& clock;
        std::int64_t epoch_ms;
        Close close;
    };
    explicit SlowGaps(Parts parts, std::size_t entries_max_in = entries_max);

    /// Returns the hooks for the publisher of a format.
    [[nodiscard]] LossHooks hooks(PayloadFormat format);
    /// Records that a subscriber's queue was full when it requested last values. The sample is counted as slow, but
    /// only show() reports it; no notice does. The hooks do the same.
    void record_left_out(PayloadFormat format, std::uint64_t id, const SamplePlace& sample);
    /// Removes a subscriber that has disconnected.
    void forget(PayloadFormat format, std::uint64_t id);
    /// Adds the first and the last lost sample for each reason.
    void show(SubscriberStatus& subscriber) const;
    /// Returns the number of ranges that are not reported yet.
    [[nodiscard]] std::size_t ranges() const noexcept;
    /// Returns the number of subscribers that were closed because they had too many gaps.
    [[nodiscard]] std::uint64_t closed() const noexcept;

  private:
    struct Ends {
        SamplePlace first;
        SamplePlace last;
    };
    struct Entry {
        GapStore gaps;
        std::array<Ends, loss_reasons> ends;  // by reason
        bool is_closing = false;              // the connection is being closed
    };
    using Key = std::pair<PayloadFormat, std::uint64_t>;
    struct KeyHash {
        std::size_t operator()(const Key& key) const noexcept {
            return std::hash<std::uint64_t>()(key.second * payload_formats + static_cast<std::uint64_t>(key.first));
        }
    };

    void lost(const Key& key, const LostRun& run, LossReason reason);
    bool write_notices(const Key& key, NoticeWriter& writer);
    void close_largest();
    [[nodiscard]] LostSample named(const SamplePlace& place) const;

    const Parts parts_;
    const std::size_t entries_max_;
    mutable std::mutex mutex_;  // guards everything below
    std::unordered_map<Key, Entry, KeyHash> counts_;
    RunReader runs_;
    std::size_t entries_ = 0;
    std::uint64_t closed_ = 0;
    std::string payload_;
};

}  // namespace telegate
