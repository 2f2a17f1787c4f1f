#pragma once

#include "core/delivery.hpp"
#include "core/telemetry_sample.hpp"
#include "encode/notice.hpp"
#include "publish/slow_gaps_runs.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>
#include <vector>

namespace telegate {

/// The samples that one subscriber has missed and that are not reported yet: ranges of sequence numbers per channel.
///
/// Threads: one.
/// Limits: the owner must limit entries(), which take 24 bytes each. A page of page_channels neighboring channels holds
/// their latest ranges and exists while one of them has a range; earlier ranges have one place each, in a list per
/// channel. In addition, 8 bytes per page of channels up to the last one.
/// Failure: may throw std::bad_alloc.
class GapStore {
  public:
    struct Gap {
        SeqRange seqs;  // first 0: none
        LossReason reason = LossReason::slow;
    };
    static constexpr std::size_t page_channels = 16;

    /// Adds lost samples. A range that continues the channel's latest range for the same reason is merged with it.
    void add(const RunDigest& lost, LossReason reason);
    /// Passes the ranges that the writer reports to `write`, in order of sequence number per channel, and removes those
    /// for which it returns true. Stops at the first false and returns true: ranges remain.
    bool report(const NoticeWriter& writer, const std::function<bool(ChannelId channel, const Gap& gap)>& write);
    void clear() noexcept;

    [[nodiscard]] std::size_t ranges() const noexcept { return ranges_; }
    [[nodiscard]] std::size_t entries() const noexcept { return pages_used_ * page_channels + earlier_entries_; }

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
    std::size_t earlier_entries_ = 0;
    std::size_t ranges_ = 0;
};

}  // namespace telegate
