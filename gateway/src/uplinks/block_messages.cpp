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

/// Writes the head and the definitions of a segment with one block to segment_.
void BlockMessages::begin_segment(const store::LogBatch& block, const store::BlockHead& head,
                                  store::Position position) {
    store::SegmentHead segment = block.segment->head();
    segment.first_position = position;
    segment.begins_epoch = false;
    segment_.clear();
    store::append_segment_head(segment, segment_);
    std::vector<store::SegmentChannel> channels;
    for (store::SegmentChannel channel : *block.definitions) {
        const bool has_gap = std::any_of(head.gaps.begin(), head.gaps.end(),
                                         [&](const store::BlockGap& gap) { return gap.gap.channel == channel.id; });
        if (has_gap || head.find(channel.id) != nullptr) {
            channel.last_seq = 0;
            channels.push_back(std::move(channel));
        }
    }
    store::append_channels(channels, position, segment.log_id, segment_);
}

bool BlockMessages::pass_on(const store::LogBatch& block, std::vector<uplink::OutgoingMessage>& messages) {
    if (!block.stored || block.sample_count() != block.stored->samples ||
        block.gaps.size() != block.stored->entries - block.stored->samples) {
        return false;
    }
    begin_segment(block, *block.stored_head, block.stored->position);
    if (!block.segment->append_record(*block.stored, segment_) || segment_.size() > bytes_max_) {
        return false;
    }
    uplink::OutgoingMessage& message = messages.emplace_back();
    message.subject = subject_;
    message.payload.assign(reinterpret_cast<const char*>(segment_.data()), segment_.size());
    message.samples = block.sample_count();
    for (const store::BlockGap& gap : block.gaps) {
        message.missing += missing_in(gap.gap);
    }
    message.utc_max_ns = block.stored_head->utc_max_ns;
    return true;
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
    begin_segment(block, described_, first);
    store::append_block({head_, payload_}, first, block.segment->head().log_id, segment_);
    message.subject = subject_;
    message.payload.assign(reinterpret_cast<const char*>(segment_.data()), segment_.size());
}

}  // namespace telegate
