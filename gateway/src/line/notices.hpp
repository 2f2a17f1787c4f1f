#pragma once

#include "base/per_channel.hpp"
#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "core/ledger.hpp"
#include "encode/notice_encoder.hpp"
#include "encode/payload_format.hpp"
#include "line/format_publisher.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace telegate {

/// Notices that were published in one format since the start.
struct NoticeTotals {
    std::uint64_t gaps = 0;
    std::uint64_t beats = 0;
};
using NoticesByFormat = std::array<NoticeTotals, payload_formats>;  // index: PayloadFormat

/// Publishes notices to all, between samples: each is encoded once per format that somebody wants it in.
///
/// Threads: the publishers'.
/// Limits:  two topics per channel and format, made when the first notice of a channel is due and anybody subscribes.
/// Failure: the first notice of a channel may throw std::bad_alloc.
class Notices {
  public:
    Notices(const ChannelTable& channels, std::int64_t epoch_ms) noexcept : channels_(channels), epoch_ms_(epoch_ms) {}

    /// From now on to these. One that stays keeps the topics it has.
    void publish_to(std::span<const FormatPublisher> publishers);

    /// `channel` has lost the samples from `first_seq` to `last_seq`.
    void gap(ChannelId channel, std::uint64_t first_seq, std::uint64_t last_seq, DropReason reason);
    /// `channel` has got as far as `seq`, and is silent.
    void beat(ChannelId channel, std::uint64_t seq);

    [[nodiscard]] const NoticesByFormat& totals() const noexcept { return totals_; }

  private:
    using Topics = PerChannel<std::optional<TopicId>>;
    struct Outlet {
        PayloadFormat format;
        Publisher* publisher;
        NoticeEncoder encoder;
        Topics gap_topics;
        Topics beat_topics;
    };

    /// Whether somebody wanted it.
    template <class Notice>
    bool publish(Outlet& outlet, Topics& topics, const Notice& notice);

    const ChannelTable& channels_;
    const std::int64_t epoch_ms_;
    const SystemClock clock_;
    std::vector<Outlet> outlets_;
    NoticesByFormat totals_{};
    std::string payload_;
};

}  // namespace telegate
