#pragma once

#include "core/delivery.hpp"
#include "core/telemetry_sample.hpp"
#include "encode/notice_encoder.hpp"
#include "publish/slow_gaps_runs.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

namespace telegate {

/// What one subscriber has missed and has not been told: ranges of seqs, per channel.
///
/// Threads: one.
/// Limits:  the owner looks at places(), 24 bytes each. The latest range of each of page_channels neighbouring channels
///          has a place while one of them has any; ranges before a channel's latest have one each, in a list of its
///          own. Besides, 8 bytes for each page of channels up to the last.
/// Failure: may throw std::bad_alloc.
class GapBook {
  public:
    struct Gap {
        SeqRange seqs;  // first 0: none
        LossReason reason = LossReason::slow;
    };
    static constexpr std::size_t page_channels = 16;

    /// A range that goes on where the channel's latest ends, for the same reason, is one with it.
    void add(const RunDigest& lost, LossReason reason);
    /// Gives `tell` the ranges that the writer tells of, those of a channel in the order of seqs, and forgets those for
    /// which it returns true. At the first false it stops, and returns true: there is more.
    bool tell(const NoticeWriter& writer, const std::function<bool(ChannelId channel, const Gap& gap)>& tell);
    void clear() noexcept;

    [[nodiscard]] std::size_t ranges() const noexcept { return ranges_; }
    [[nodiscard]] std::size_t places() const noexcept { return pages_used_ * page_channels + earlier_places_; }

  private:
    struct Page {
        std::array<Gap, page_channels> latest;
        std::size_t used = 0;
    };

    [[nodiscard]] Page& page_of(ChannelId channel);
    void add_range(Page& page, Gap& latest, ChannelId channel, const Gap& gap);
    [[nodiscard]] std::vector<Gap> take_channel(Page& page, ChannelId channel);
    void put_back(Page& page, ChannelId channel, const std::vector<Gap>& gaps, std::size_t from);

    std::vector<std::unique_ptr<Page>> pages_;
    std::unordered_map<std::uint32_t, std::vector<Gap>> earlier_;  // by channel: ranges before its latest
    std::size_t pages_used_ = 0;
    std::size_t earlier_places_ = 0;
    std::size_t ranges_ = 0;
};

}  // namespace telegate
