#include "uplinks/block_messages.hpp"

#include "store/segment_format.hpp"
#include "store/segment_reader.hpp"

#include <algorithm>

namespace telegate {
namespace {

constexpr std::size_t sample_bytes_max = 64;  // encoded, except for rare texts

std::uint64_t missing_in(const store::LogGap& gap) {
    return gap.last_seq - gap.first_seq + 1;
}

}  // namespace

bool BlockMessages::pass_on(const store::LogBatch& block, std::vector<uplink::OutgoingMessage>& messages) {
    if (!block.stored || block.sample_count() != block.stored->entry.samples ||
        block.gaps.size() != block.stored->entry.entries - block.stored->entry.samples) {
        return false;
    }
    write_segment(block, *block.stored->head, block.stored->bytes, block.stored->entry.position);
    if (segment_.size() > bytes_max_) {
        return false;
    }
    uplink::OutgoingMessage& message = messages.emplace_back();
    set_content(message);
    message.samples = block.sample_count();
    for (const store::BlockGap& gap : block.gaps) {
        message.missing += missing_in(gap.gap);
    }
    message.utc_max_ns = block.stored->head->utc_max_ns;
    return true;
}

/// Writes a segment with one block to segment_.
void BlockMessages::write_segment(const store::LogBatch& block, const store::BlockHead& head,
                                  const store::EncodedBlock& encoded, store::Position position) {
    learn_channels(block);
    channels_.clear();
    for (const store::BlockChannel& part : head.channels) {
        channels_.push_back(part.channel);
    }
    for (const store::BlockGap& gap : head.gaps) {
        channels_.push_back(gap.gap.channel);
    }
    std::sort(channels_.begin(), channels_.end());
    channels_.erase(std::unique(channels_.begin(), channels_.end()), channels_.end());
    definitions_.clear();
    for (const ChannelId channel : channels_) {
        const Definition& definition = known_[to_index(channel)];
        definitions_.insert(definitions_.end(), known_bytes_.begin() + definition.begin,
                            known_bytes_.begin() + definition.end);
    }
    store::SegmentHead segment = segment_head_;
    segment.first_position = position;
    segment.begins_epoch = false;
    segment_.clear();
    store::append_segment_head(segment, segment_);
    store::append_channels(store::EncodedChannels{channels_.size(), definitions_}, position, segment.log_id, segment_);
    store::append_block(encoded, position, segment.log_id, segment_);
}

/// Encodes the definitions of the channels that are new in the segment.
void BlockMessages::learn_channels(const store::LogBatch& block) {
    if (known_from_ != block.definitions || segment_head_ != block.segment->head()) {
        known_from_ = block.definitions;
        segment_head_ = block.segment->head();
        known_count_ = 0;
        known_.clear();
        known_bytes_.clear();
    }
    for (; known_count_ < block.definitions->size(); ++known_count_) {
        store::SegmentChannel channel = (*block.definitions)[known_count_];
        channel.last_seq = 0;
        const auto begin = static_cast<std::ptrdiff_t>(known_bytes_.size());
        store::append_definition(channel, known_bytes_);
        known_.resize(std::max(known_.size(), to_index(channel.id) + std::size_t{1}));
        known_[to_index(channel.id)] = {begin, static_cast<std::ptrdiff_t>(known_bytes_.size())};
    }
}

void BlockMessages::set_content(uplink::OutgoingMessage& message) const {
    message.subject = subject_;
    message.payload.assign(reinterpret_cast<const char*>(segment_.data()), segment_.size());
}

void BlockMessages::encode(const store::LogBatch& block, std::vector<uplink::OutgoingMessage>& messages) {
    if (block.segment == nullptr || (block.samples.empty() && block.gaps.empty())) {
        return;
    }
    const std::size_t samples_max = std::max(bytes_max_ / sample_bytes_max, std::size_t{1});
    store::Position position = block.position;
    const auto begin_entry = [&](uplink::BlockPlace place) {
        if (encoder_.is_full() || encoder_.samples() >= samples_max) {
            end_message(block, position, messages);
        }
        if (encoder_.is_empty()) {
            messages.emplace_back().begin = place;
        }
        ++position;
    };
    std::uint32_t next_gap = 0;
    for (std::uint32_t i = 0; i <= block.samples.size(); ++i) {
        const bool is_end = i == block.samples.size();
        for (; next_gap < block.gaps.size() && (is_end || block.gaps[next_gap].before_sample <= i); ++next_gap) {
            begin_entry({i, next_gap});
            encoder_.add(block.gaps[next_gap].gap);
            messages.back().missing += missing_in(block.gaps[next_gap].gap);
        }
        if (!is_end) {
            begin_entry({i, next_gap});
            encoder_.add(block.samples[i]);
            ++messages.back().samples;
            messages.back().utc_max_ns = std::max(messages.back().utc_max_ns, block.samples[i].time_utc_ns);
        }
    }
    end_message(block, position, messages);
}

/// Encodes what was added as the last message, whose last entry is before `position`.
void BlockMessages::end_message(const store::LogBatch& block, store::Position position,
                                std::vector<uplink::OutgoingMessage>& messages) {
    uplink::OutgoingMessage& message = messages.back();
    const store::Position first = position - encoder_.entries();
    head_.clear();
    payload_.clear();
    encoder_.encode(block.published_before_sample(message.begin.sample), described_, head_, payload_);
    encoder_.clear();
    write_segment(block, described_, {head_, payload_}, first);
    set_content(message);
}

}  // namespace telegate
