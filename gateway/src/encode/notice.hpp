#pragma once

#include "config/payload_format.hpp"
#include "core/channel_table.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
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

// Notices as JSON objects and CBOR maps with the same keys. Threads: any. Limits: notice_bytes_max. Failure: may throw
// std::bad_alloc.

/// More than the longest notice of a gateway.
inline constexpr std::size_t notice_bytes_max = 512;

struct JsonNotices {
    static void append(const NoticeContext& context, const GapNotice& notice, std::string& out);
    static void append(const NoticeContext& context, const BeatNotice& notice, std::string& out);
    /// See read_notice().
    [[nodiscard]] static std::optional<NoticeFields> read(NoticeKind kind, std::string_view payload);
};

struct CborNotices {
    static void append(const NoticeContext& context, const GapNotice& notice, std::string& out);
    static void append(const NoticeContext& context, const BeatNotice& notice, std::string& out);
    [[nodiscard]] static std::optional<NoticeFields> read(NoticeKind kind, std::string_view payload);
};

/// Notices as records with their own types. Threads: any. Limits: none. Failure: append() may throw std::bad_alloc.
struct RecordNotices {
    static void append(const NoticeContext& context, const GapNotice& notice, std::string& out);
    static void append(const NoticeContext& context, const BeatNotice& notice, std::string& out);
    /// See read_notice().
    [[nodiscard]] static std::optional<NoticeFields> read(NoticeKind kind, std::string_view payload);
};

/// Encodes notices as payloads of docs/wire.md.
///
/// Threads: any. Limits: none; a payload has fewer than 512 bytes. Failure: append() may throw std::bad_alloc and then
/// leaves `out` unchanged.
class NoticeEncoder {
  public:
    NoticeEncoder(PayloadFormat format, const NoticeContext& context) noexcept : format_(format), context_(context) {}

    /// Appends to `out`, so that the caller can reuse it.
    void append(const GapNotice& notice, std::string& out) const;
    void append(const BeatNotice& notice, std::string& out) const;

  private:
    PayloadFormat format_;
    NoticeContext context_;
};

/// Reads the payload of a notice. The keys of an object may have any order; unknown keys are ignored. nullopt: not a
/// notice of this kind and format. Threads: any.
[[nodiscard]] std::optional<NoticeFields> read_notice(PayloadFormat format, NoticeKind kind, std::string_view payload);

}  // namespace telegate
