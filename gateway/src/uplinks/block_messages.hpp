#pragma once

#include "store/block.hpp"
#include "store/log_reader.hpp"
#include "uplink/delivery.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace telegate {

/// Passes on the blocks of the log as messages, each of which has the form of a segment file with one block: a head,
/// the definitions of the channels of the block, and the block as it is in the log. A block that is too large, and
/// samples and gaps that are not those of one block, are encoded again.
///
/// Threads: one.
/// Limits:  messages of bytes_max bytes, unless definitions and texts are unusually long. The definitions of the
///          channels of a segment.
/// Failure: throws std::bad_alloc.
class BlockMessages {
  public:
    BlockMessages(std::string subject, std::size_t bytes_max) : subject_(std::move(subject)), bytes_max_(bytes_max) {}

    /// Appends the stored block as a message. See uplink::PassOnBlock.
    [[nodiscard]] bool pass_on(const store::LogBatch& block, std::vector<uplink::OutgoingMessage>& messages);
    /// Appends the messages of a block, or of a part of one. See uplink::EncodeBlock.
    void encode(const store::LogBatch& block, std::vector<uplink::OutgoingMessage>& messages);

  private:
    /// An encoded definition of a channel in known_bytes_.
    struct Definition {
        std::ptrdiff_t begin = 0;
        std::ptrdiff_t end = 0;
    };

    void end_message(const store::LogBatch& block, store::Position position,
                     std::vector<uplink::OutgoingMessage>& messages);
    void write_segment(const store::LogBatch& block, const store::BlockHead& head, const store::EncodedBlock& encoded,
                       store::Position position);
    void learn_channels(const store::LogBatch& block);
    void set_content(uplink::OutgoingMessage& message) const;

    const std::string subject_;
    const std::size_t bytes_max_;
    store::BlockEncoder encoder_;
    store::ByteBuffer segment_;  // memory that is reused, as the next ones are
    store::ByteBuffer head_;
    store::ByteBuffer payload_;
    store::BlockHead described_;
    store::SegmentHead segment_head_;  // of the segment of the log whose channels are known
    const std::vector<store::SegmentChannel>* known_from_ = nullptr;  // their definitions; each reader has its own
    std::size_t known_count_ = 0;                                     // of these definitions
    std::vector<Definition> known_;                                   // by channel
    store::ByteBuffer known_bytes_;
    std::vector<ChannelId> channels_;  // of the last message
    store::ByteBuffer definitions_;
};

}  // namespace telegate
