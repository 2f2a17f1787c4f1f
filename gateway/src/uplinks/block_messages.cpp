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
    store::SegmentHead segment = block.segment->head();
    find_channels(block, head);
    segment.first_position = position;
    segment.begins_epoch = false;
    segment_.clear();
    store::append_segment_head(segment, segment_);
    store::append_channels(channels_, position, segment.log_id, segment_);
    store::append_block(encoded, position, segment.log_id, segment_);
}

/// Sets channels_ to the definitions of the channels of a block. Most blocks have those of the one before.
void BlockMessages::find_channels(const store::LogBatch& block, const store::BlockHead& head) {
    ids_.clear();
    for (const store::BlockChannel& part : head.channels) {
        ids_.push_back(part.channel);
    }
    for (const store::BlockGap& gap : head.gaps) {
        ids_.push_back(gap.gap.channel);
    }
    const bool are_same = channels_of_ == block.segment->head() &&
                          std::equal(ids_.begin(), ids_.end(), channels_.begin(), channels_.end(),
                                     [](ChannelId id, const store::SegmentChannel& each) { return id == each.id; });
    if (are_same) {
        return;
    }
    std::sort(ids_.begin(), ids_.end());
    channels_of_ = block.segment->head();
    channels_.clear();
    for (const store::SegmentChannel& channel : *block.definitions) {
        if (std::binary_search(ids_.begin(), ids_.end(), channel.id)) {
            channels_.push_back(channel);
            channels_.back().last_seq = 0;
        }
    }
    std::sort(channels_.begin(), channels_.end(),
              [](const store::SegmentChannel& left, const store::SegmentChannel& right) { return left.id < right.id; });
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
    encoder_.encode(block.published_before.value_or(0) + message.begin.sample, described_, head_, payload_);
    encoder_.clear();
    write_segment(block, described_, {head_, payload_}, first);
    set_content(message);
}

}  // namespace telegate
