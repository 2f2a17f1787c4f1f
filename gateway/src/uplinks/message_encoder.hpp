#pragma once

#include "base/topic_filter.hpp"
#include "encode/tags.hpp"
#include "uplinks/sample_writer.hpp"
#include "uplinks/subject_template.hpp"

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

/// Encodes blocks of the log as messages of samples and gap notices, see docs/uplinks.md. The samples of a message have
/// one subject, and those of a channel stay in order. The same block always results in the same messages.
///
/// Threads: one.
/// Limits:  messages of samples_max samples and notices and, unless a single one is longer, bytes_max bytes. The
///          channels of one epoch and the messages of one block.
/// Failure: throws std::bad_alloc. Samples of channels without a valid name are ignored.
class MessageEncoder {
  public:
    struct Options {
        std::vector<std::string> topics = {};  // prefixes; none: all channels
        std::size_t samples_max = 1'000;
        std::size_t bytes_max = 262'144;
        MessageFormat format = MessageFormat::json;  // not block
        std::string subject = "telegate.samples";    // see SubjectTemplate
    };
    MessageEncoder(Tags tags, Options options);

    /// Sorts the entries of a block by their subjects, if these depend on the channel. See uplink::ArrangeBlock.
    void arrange(store::LogBatch& block);
    /// Appends the messages of a block, or of a part of one that is arranged. See uplink::EncodeBlock.
    void encode(const store::LogBatch& block, std::int64_t end_utc_ns, std::vector<uplink::OutgoingMessage>& messages);

  private:
    /// The channels of an epoch, and what is prepared for each.
    struct Epoch {
        Epoch(std::int64_t start_ms, const Tags& tags, const Options& options);

        std::int64_t epoch_ms;
        ChannelTable channels;
        std::unique_ptr<SampleWriter> writer;
        TopicFilter filter;
        std::vector<std::string> subjects;  // by channel
    };
    class Messages;

    void learn_channels(const store::LogBatch& block);
    [[nodiscard]] std::optional<ChannelId> find(ChannelId in_block) const noexcept;

    const Tags tags_;
    const Options options_;
    const SubjectTemplate subject_;
    std::unique_ptr<Epoch> epoch_;
    std::vector<std::optional<ChannelId>> known_;  // in Epoch::channels, by the id in the block
};

}  // namespace telegate
