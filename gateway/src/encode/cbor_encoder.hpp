#pragma once

#include "base/per_channel.hpp"
#include "core/channel_table.hpp"
#include "core/telemetry_sample.hpp"
#include "encode/labels.hpp"
#include "encode/notice.hpp"
#include "encode/sample_members.hpp"
#include "encode/step_text.hpp"
#include "encode/time_text.hpp"

#include <cstddef>
#include <cstdint>

namespace telegate {

/// Encodes samples as the `cbor` payload of docs/wire.md: one map (RFC 8949) with the keys and values of the JSON
/// object, in the same order. A real number is always a 64-bit float.
///
/// The constant parts of a channel are encoded once, at its first sample; after that, encoding allocates nothing.
///
/// Threads: one, the I/O thread.
/// Limits: one prefix and suffix per channel, so at most ChannelTable::channels_max of them.
/// Failure: the first sample of a channel may throw std::bad_alloc. Bytes of text that are not UTF-8 are replaced by
/// U+FFFD; NaN and infinities become null.
class CborEncoder {
  public:
    using Notices = CborNotices;
    static constexpr std::size_t samples_per_payload_max = 1;

    /// `epoch_ms`: start of the gateway, ms since 1970 UTC. The tags are added to each sample.
    CborEncoder(const ChannelTable& channels, std::int64_t epoch_ms, SharedLabels labels = nullptr);
    void set_labels(SharedLabels labels);

    /// Returns the buffer size that encode() needs; its result is shorter.
    [[nodiscard]] std::size_t bytes_max(const TelemetrySample& sample) {
        const std::size_t bytes =
            frame_of(sample.channel).bytes_max + (has_doubtful_time(sample) ? doubt_bytes_max : 0);
        return sample.type == ValueType::text ? bytes + replaced_bytes_max * sample.text_bytes : bytes;
    }
    /// Writes the map to `out`, which is bytes_max(sample) bytes long, and returns its length. The rest of the buffer
    /// may be overwritten.
    std::size_t encode(const TelemetrySample& sample, char* out);

  private:
    static constexpr std::size_t replaced_bytes_max = 3;  // U+FFFD
    static constexpr std::size_t doubt_bytes_max = 64;    // of the members for an unsynchronized time

    struct Frame {
        StepText before;  // up to and including the key `seq`
        StepText after;   // from the key `unit` to the key `quality`, including tags
        std::size_t bytes_max;
        bool has_tags;
    };

    [[nodiscard]] const Frame& frame_of(ChannelId channel) {
        return frames_.of(channel, [this](const ChannelInfo& info) { return make_frame(info); });
    }
    [[nodiscard]] Frame make_frame(const ChannelInfo& info) const;

    std::int64_t epoch_ms_;
    SharedLabels labels_;
    PerChannel<Frame> frames_;
    TimeText time_;
};

}  // namespace telegate
