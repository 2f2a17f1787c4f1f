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
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace telegate {

/// Encodes samples as the `json` payload of docs/wire.md: one object, keys in a fixed order, no spaces.
///
/// The constant parts of a channel are encoded once, at its first sample; after that, encoding allocates nothing.
///
/// Threads: one, the I/O thread.
/// Limits: one prefix and suffix per channel, so at most ChannelTable::channels_max of them.
/// Failure: the first sample of a channel may throw std::bad_alloc. Bytes of text that are not UTF-8 are replaced by
/// U+FFFD; a value that JSON cannot represent becomes null.
class JsonEncoder {
  public:
    using Notices = JsonNotices;
    static constexpr std::size_t samples_per_payload_max = 1;
    static constexpr std::size_t escape_bytes_max = 6;  // \u001f
    static constexpr std::size_t doubt_bytes_max = 96;  // of the members for an unsynchronized time

    /// `epoch_ms`: start of the gateway, ms since 1970 UTC. The tags are added to each sample.
    JsonEncoder(const ChannelTable& channels, std::int64_t epoch_ms, SharedLabels labels = nullptr);
    void set_labels(SharedLabels labels);

    /// Returns the buffer size that encode() needs; its result is shorter.
    [[nodiscard]] std::size_t bytes_max(const TelemetrySample& sample) {
        const std::size_t bytes =
            frame_of(sample.channel).bytes_max + (has_doubtful_time(sample) ? doubt_bytes_max : 0);
        return sample.type == ValueType::text ? bytes + escape_bytes_max * sample.text_bytes : bytes;
    }
    /// Writes the object to `out`, which is bytes_max(sample) bytes long, and returns its length. The rest of the
    /// buffer may be overwritten.
    std::size_t encode(const TelemetrySample& sample, char* out);

  private:
    struct Frame {
        StepText before;  // up to and including `"seq":`
        StepText after;   // from `,"unit":` to `"quality":"`, including tags
        std::size_t bytes_max;
    };

    [[nodiscard]] const Frame& frame_of(ChannelId channel) {
        return frames_.of(channel, [this](const ChannelInfo& info) { return make_frame(info); });
    }
    [[nodiscard]] Frame make_frame(const ChannelInfo& info) const;

    std::string epoch_;
    SharedLabels labels_;
    PerChannel<Frame> frames_;
    TimeText time_;
};

class JsonObject;

/// Returns `{"site":"north"}`.
[[nodiscard]] std::string json_tags(const Tags& tags);
/// Returns `,"tags":{"site":"north"}`, to append to another member of a JSON object; "" without tags.
[[nodiscard]] std::string json_tags_member(const Tags& tags);

/// Encodes samples for REST in the `json` format of subscribers. All requests share one encoder, because it has an
/// entry per channel.
///
/// Threads: any; a mutex is held while one sample is encoded.
/// Limits: those of JsonEncoder. Failure: append() may throw std::bad_alloc.
class SampleText {
  public:
    SampleText(const ChannelTable& channels, std::int64_t epoch_ms,
               SharedLabels labels = std::make_shared<const Labels>())
        : channels_(channels), encoder_(channels, epoch_ms, labels), epoch_ms_(epoch_ms), labels_(std::move(labels)) {}

    void append(std::string& out, const TelemetrySample& sample);
    void set_labels(SharedLabels labels);
    [[nodiscard]] SharedLabels labels() const;
    [[nodiscard]] std::int64_t epoch_ms() const noexcept { return epoch_ms_; }
    [[nodiscard]] const ChannelTable& channels() const noexcept { return channels_; }

  private:
    const ChannelTable& channels_;
    mutable std::mutex mutex_;
    JsonEncoder encoder_;
    const std::int64_t epoch_ms_;
    SharedLabels labels_;
};

/// Describes a sample as SampleText encodes it. Threads: one.
void describe_sample(JsonObject& out);

}  // namespace telegate
