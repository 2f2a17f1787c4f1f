#include "uplinks/block_json.hpp"

#include "encode/map_notices.hpp"

#include "core/topic.hpp"

#include <algorithm>
#include <utility>

namespace telegate {
BlockJson::Epoch::Epoch(std::int64_t start_ms, const Tags& tags, const std::vector<std::string>& topics)
    : epoch_ms(start_ms), encoder(channels, start_ms, tags), filter(channels, topics) {}

BlockJson::BlockJson(Tags tags, Options options) : tags_(std::move(tags)), options_(std::move(options)) {}

/// Appends lines to the last message, and begins a new message at a limit.
class BlockJson::Lines {
  public:
    Lines(const Options& options, std::vector<uplink::OutgoingMessage>& messages)
        : options_(options), messages_(messages) {}

    /// The next line is that of the entry at `place`.
    void move_to(uplink::BlockPlace place) noexcept { place_ = place; }
    /// `write` writes a line of at most `bytes_max` bytes to its argument and returns the length.
    template <class Write>
    uplink::OutgoingMessage& add(std::size_t bytes_max, const Write& write) {
        if (lines_ == 0 || lines_ == options_.samples_max ||
            messages_.back().payload.size() + bytes_max + 1 > options_.bytes_max) {
            messages_.emplace_back().begin = place_;
            lines_ = 0;
        }
        std::string& payload = messages_.back().payload;
        const std::size_t before = payload.size();
        payload.resize(before + bytes_max + 1);
        const std::size_t bytes = write(payload.data() + before);
        payload[before + bytes] = '\n';
        payload.resize(before + bytes + 1);
        ++lines_;
        return messages_.back();
    }

  private:
    const Options& options_;
    std::vector<uplink::OutgoingMessage>& messages_;
    uplink::BlockPlace place_;
    std::size_t lines_ = 0;  // of the last message; 0: there is none
};

/// Adds the channels of the block to those of the epoch.
void BlockJson::learn_channels(const store::LogBatch& block) {
    if (epoch_ == nullptr || epoch_->epoch_ms != block.epoch_ms) {
        epoch_ = std::make_unique<Epoch>(block.epoch_ms, tags_, options_.topics);
    }
    wanted_.clear();
    if (block.definitions == nullptr) {
        return;
    }
    for (const store::SegmentChannel& channel : *block.definitions) {
        if (!is_topic_part(channel.device) || !is_topic_part(channel.channel)) {
            continue;
        }
        const auto id = epoch_->channels.add(DeviceId{0}, channel.device, channel.channel, channel.unit);
        if (id && epoch_->filter.matches(*id)) {
            const std::size_t index = to_index(channel.id);
            wanted_.resize(std::max(wanted_.size(), index + 1));
            wanted_[index] = id;
        }
    }
}

std::optional<ChannelId> BlockJson::wanted(ChannelId in_block) const noexcept {
    const std::size_t index = to_index(in_block);
    return index < wanted_.size() ? wanted_[index] : std::nullopt;
}

void BlockJson::add_gap(const store::LogGap& gap, std::int64_t time_utc_ns, Lines& lines) const {
    const auto channel = wanted(gap.channel);
    if (!channel) {
        return;
    }
    std::string line;
    JsonNotices::append({epoch_->channels, epoch_->epoch_ms},
                        {*channel, gap.first_seq, gap.last_seq, to_string(gap.reason), time_utc_ns}, line);
    uplink::OutgoingMessage& message = lines.add(line.size(), [&](char* out) { return line.copy(out, line.size()); });
    message.missing += gap.last_seq - gap.first_seq + 1;
}

void BlockJson::encode(const store::LogBatch& block, std::int64_t end_utc_ns,
                       std::vector<uplink::OutgoingMessage>& messages) {
    learn_channels(block);
    Lines lines(options_, messages);
    std::uint32_t next_gap = 0;
    for (std::uint32_t i = 0; i <= block.samples.size(); ++i) {
        const bool has_sample = i < block.samples.size();
        // The log has no time for a gap. It is that of the sample after it, so that encoding again has the same result.
        const std::int64_t gap_utc_ns = has_sample ? block.samples[i].time_utc_ns : end_utc_ns;
        for (; next_gap < block.gaps.size() && (!has_sample || block.gaps[next_gap].before_sample <= i); ++next_gap) {
            lines.move_to({i, next_gap});
            add_gap(block.gaps[next_gap].gap, gap_utc_ns, lines);
        }
        lines.move_to({i, next_gap});
        const auto channel = has_sample ? wanted(block.samples[i].channel) : std::nullopt;
        if (!channel) {
            continue;
        }
        TelemetrySample sample = block.samples[i];
        sample.channel = *channel;
        uplink::OutgoingMessage& message = lines.add(epoch_->encoder.bytes_max(sample),
                                                     [&](char* out) { return epoch_->encoder.encode(sample, out); });
        ++message.samples;
        message.utc_max_ns = std::max(message.utc_max_ns, sample.time_utc_ns);
    }
}

}  // namespace telegate
