#pragma once

#include "core/channel_table.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace telegate {

/// Appended to the topic of the channel that the notice is about.
inline constexpr std::string_view gap_suffix = "$gap";
inline constexpr std::string_view beat_suffix = "$beat";

/// Reports that all samples of a channel from `first_seq` to `last_seq` are missing. `reason`: see docs/wire.md.
struct GapNotice {
    ChannelId channel;
    std::uint64_t first_seq;
    std::uint64_t last_seq;
    std::string_view reason;
    std::int64_t time_utc_ns;
};

/// Reports the last `seq` of an idle channel that was published or covered by a gap notice.
struct BeatNotice {
    ChannelId channel;
    std::uint64_t seq;
    std::int64_t time_utc_ns;
};

/// The context shared by all notices of a gateway.
struct NoticeContext {
    const ChannelTable& channels;
    std::int64_t epoch_ms;  // start of the gateway, ms since 1970 UTC
};

/// The sequence numbers of samples that a notice reports.
struct SeqRange {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
};

enum class NoticeKind : std::uint8_t { gap, beat };

/// A notice as read from a payload. Its channel follows from the topic.
struct NoticeFields {
    std::int64_t epoch_ms = 0;
    SeqRange seqs;       // of a heartbeat: its `seq`, which is 0 if there was no sample yet
    std::string reason;  // empty: a heartbeat, or a reason that is unknown here
};

[[nodiscard]] std::string gap_topic(const ChannelInfo& channel);
[[nodiscard]] std::string beat_topic(const ChannelInfo& channel);

}  // namespace telegate
