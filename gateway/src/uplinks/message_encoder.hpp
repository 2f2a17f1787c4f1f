#pragma once

#include "config/payload_format.hpp"
#include "encode/labels.hpp"

#include "core/channel_table.hpp"
#include "core/telemetry_sample.hpp"
#include "store/log_reader.hpp"
#include "uplink/delivery.hpp"
#include "uplink/entry_encoder.hpp"
#include "uplink/subject_template.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
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
///          channels of one epoch, the messages of one block, and memory for one more message.
/// Failure: throws std::bad_alloc. Samples of channels without a valid name are ignored.
class MessageEncoder {
  public:
    struct Options {
        std::vector<std::string> topics = {};  // prefixes; none: all channels
        std::size_t samples_max = 1'000;
        std::size_t bytes_max = 262'144;
        MessageFormat format = MessageFormat::json;  // not block
        std::string subject = "telegate.samples";    // see SubjectTemplate; "": none
        /// Returns the encoder of an epoch. Empty: `format` determines it.
        std::function<std::unique_ptr<uplink::EntryEncoder>(std::int64_t epoch_ms)> make_encoder = {};
    };
    MessageEncoder(SharedLabels labels, Options options);
    ~MessageEncoder();
    MessageEncoder(const MessageEncoder&) = delete;
    MessageEncoder& operator=(const MessageEncoder&) = delete;

    /// Sorts the entries of a block by their subjects, if these depend on the channel. See uplink::ArrangeBlock.
    void arrange(store::LogBatch& block);
    /// Appends the messages of a block, or of a part of one that is arranged. See uplink::EncodeBlock.
    void encode(const store::LogBatch& block, std::int64_t end_utc_ns, std::vector<uplink::OutgoingMessage>& messages);

  private:
    struct Epoch;
    template <class Encoder>
    class Messages;
    /// Identifies the definitions of a segment, to which new ones are only added.
    struct Definitions {
        store::LogId log_id{};
        store::Position segment = 0;
        std::size_t count = 0;

        bool operator==(const Definitions&) const = default;
    };

    void learn_channels(const store::LogBatch& block);
    template <class Encoder>
    void encode_with(Encoder& encoder, const store::LogBatch& block, std::int64_t end_utc_ns,
                     std::vector<uplink::OutgoingMessage>& messages);
    [[nodiscard]] std::optional<ChannelId> find(ChannelId in_block) const noexcept;

    const SharedLabels labels_;
    const Options options_;
    const SubjectTemplate subject_;
    std::unique_ptr<Epoch> epoch_;
    std::vector<std::optional<ChannelId>> known_;  // in Epoch::channels, by the id in the block
    std::optional<Definitions> learned_;           // those that known_ has
    std::string entries_;                          // memory for the entries of a message
};

}  // namespace telegate
