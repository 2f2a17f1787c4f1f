#pragma once

#include "base/topic_filter.hpp"
#include "encode/json_encoder.hpp"
#include "encode/tags.hpp"

#include "core/channel_table.hpp"
#include "core/telemetry_sample.hpp"
#include "store/log_reader.hpp"
#include "uplink/delivery.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace telegate {

/// Encodes blocks of the log as messages of lines: a line is the `json` payload of a sample, or of the notice of a gap.
/// The same block always results in the same messages.
///
/// Threads: one.
/// Limits:  messages of samples_max lines and, unless a single line is longer, bytes_max bytes. The channels of one
/// epoch. Failure: throws std::bad_alloc. Samples of channels without a valid name are ignored.
class BlockJson {
  public:
    struct Options {
        std::vector<std::string> topics;  // prefixes; none: all channels
        std::size_t samples_max = 1'000;
        std::size_t bytes_max = 262'144;
    };
    BlockJson(Tags tags, Options options);

    /// Appends the messages of a block, see UplinkRunner::EncodeBlock.
    void encode(const store::LogBatch& block, std::int64_t end_utc_ns, std::vector<uplink::OutgoingMessage>& messages);

  private:
    /// The names of the channels of an epoch, and what is prepared for each.
    struct Epoch {
        Epoch(std::int64_t start_ms, const Tags& tags, const std::vector<std::string>& topics);

        std::int64_t epoch_ms;
        ChannelTable channels;
        JsonEncoder encoder;
        TopicFilter filter;
    };
    class Lines;

    void learn_channels(const store::LogBatch& block);
    [[nodiscard]] std::optional<ChannelId> wanted(ChannelId in_block) const noexcept;
    void add_gap(const store::LogGap& gap, std::int64_t time_utc_ns, Lines& lines) const;

    const Tags tags_;
    const Options options_;
    std::unique_ptr<Epoch> epoch_;
    std::vector<std::optional<ChannelId>> wanted_;  // in epoch_->channels, by the id in the block
};

}  // namespace telegate
