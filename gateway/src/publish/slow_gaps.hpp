#pragma once

#include "config/payload_format.hpp"
#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "core/delivery.hpp"
#include "publish/slow_gaps_book.hpp"
#include "publish/slow_gaps_runs.hpp"
#include "publish/subscriber_status.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <utility>

namespace telegate {

/// What each subscriber that reads too slowly has missed and has not been told yet: per channel the ranges of seqs,
/// told by `$gap` notices where the samples are missing.
///
/// Threads: the reactor's, or any while nobody turns it.
/// Limits:  places_max places of the books of all subscribers together, and one run's more; beyond that whoever takes
///          most is closed, and counted. Ranges that follow each other are one, so that only a subscriber whose losses
///          alternate with what it gets has many.
/// Failure: a lack of memory ends the process, as hooks may not throw.
class SlowGaps {
  public:
    /// See GapBook: 24 MB, or 80 where every channel has a range before its latest. Fifteen channels each for all the
    /// connections that one format can have, or every channel for fifteen of them.
    static constexpr std::size_t places_max = 1'000'000;

    /// Closes a subscriber's connection, not from within this call.
    using Close = std::function<void(PayloadFormat format, std::uint64_t id)>;
    struct Parts {
        const ChannelTable& channels;
        const Clock& clock;
        std::int64_t epoch_ms;
        Close close;
    };
    explicit SlowGaps(Parts parts, std::size_t places_max_in = places_max);

    /// For the publisher of a format.
    [[nodiscard]] LossHooks hooks(PayloadFormat format);
    /// It had no room for a last value, which is counted as slow: for show() alone, no notice tells of it.
    void note_left_out(PayloadFormat format, std::uint64_t id, const SamplePlace& sample);
    /// The subscriber has gone.
    void forget(PayloadFormat format, std::uint64_t id);
    /// Adds which samples it lost first and last, for each reason.
    void show(SubscriberStatus& subscriber) const;
    /// Ranges that wait to be told.
    [[nodiscard]] std::size_t ranges() const noexcept;
    /// Subscribers that were closed because their gaps were too many.
    [[nodiscard]] std::uint64_t closed() const noexcept { return closed_; }

  private:
    struct Ends {
        SamplePlace first;
        SamplePlace last;
    };
    struct Book {
        GapBook gaps;
        std::array<Ends, loss_reasons> ends;  // by reason
        bool given_up = false;                // it is being closed
    };
    using Key = std::pair<PayloadFormat, std::uint64_t>;
    struct KeyHash {
        std::size_t operator()(const Key& key) const noexcept {
            return key.second * payload_formats + static_cast<std::size_t>(key.first);
        }
    };

    void lost(const Key& key, const LostRun& run, LossReason reason);
    bool tell(const Key& key, NoticeWriter& writer);
    void give_up_largest();
    [[nodiscard]] LostSample named(const SamplePlace& place) const;

    const Parts parts_;
    const std::size_t places_max_;
    std::unordered_map<Key, Book, KeyHash> books_;
    RunReader runs_;
    std::size_t places_ = 0;
    std::uint64_t closed_ = 0;
    std::string payload_;
};

}  // namespace telegate
