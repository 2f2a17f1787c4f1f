#pragma once

#include "core/channel_table.hpp"
#include "core/telemetry_sample.hpp"
#include "encode/payload_format.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace telegate {

/// Behind the topic of the channel that a notice is about.
inline constexpr std::string_view gap_suffix = "$gap";
inline constexpr std::string_view beat_suffix = "$beat";

/// The samples of a channel from `first_seq` to `last_seq`, all of them, do not come. `reason`: see docs/wire.md.
struct GapNotice {
    ChannelId channel;
    std::uint64_t first_seq;
    std::uint64_t last_seq;
    std::string_view reason;
    std::int64_t time_utc_ns;
};

/// The last `seq` of a silent channel that was published or told in a gap.
struct BeatNotice {
    ChannelId channel;
    std::uint64_t seq;
    std::int64_t time_utc_ns;
};

/// Turns notices into payloads of docs/wire.md: what a subscriber is told besides samples.
///
/// Threads: any. Limits: none, a payload takes less than 512 bytes. Failure: append() may throw std::bad_alloc, and
///          leaves `out` as it was then.
class NoticeEncoder {
  public:
    /// `epoch_ms`: the gateway's start, ms since 1970 UTC.
    NoticeEncoder(PayloadFormat format, const ChannelTable& channels, std::int64_t epoch_ms) noexcept
        : format_(format), channels_(channels), epoch_ms_(epoch_ms) {}

    /// Appends to `out`, which the caller reuses.
    void append(const GapNotice& notice, std::string& out) const;
    void append(const BeatNotice& notice, std::string& out) const;

  private:
    PayloadFormat format_;
    const ChannelTable& channels_;
    std::int64_t epoch_ms_;
};

[[nodiscard]] std::string gap_topic(const ChannelInfo& channel);
[[nodiscard]] std::string beat_topic(const ChannelInfo& channel);

}  // namespace telegate
