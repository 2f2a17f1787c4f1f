#pragma once

#include "core/channel_table.hpp"

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

/// What all notices of a gateway have in common.
struct NoticeContext {
    const ChannelTable& channels;
    std::int64_t epoch_ms;  // the gateway's start, ms since 1970 UTC
};

/// Which samples of its channel a published message holds, or, for a notice of a gap, says are missing.
struct SeqRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};

[[nodiscard]] std::string gap_topic(const ChannelInfo& channel);
[[nodiscard]] std::string beat_topic(const ChannelInfo& channel);

}  // namespace telegate
