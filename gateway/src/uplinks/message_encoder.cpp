#include "uplinks/message_encoder.hpp"

#include "core/endian.hpp"
#include "core/topic.hpp"
#include "encode/record_encoder.hpp"

#include <algorithm>
#include <utility>

namespace telegate {

MessageEncoder::Epoch::Epoch(std::int64_t start_ms, const Tags& tags, const Options& options)
    : epoch_ms(start_ms),
      writer(make_sample_writer(options.format, channels, start_ms, tags)),
      filter(channels, options.topics) {}

MessageEncoder::MessageEncoder(Tags tags, Options options)
    : tags_(std::move(tags)), options_(std::move(options)), subject_(options_.subject) {}

/// The messages of a block. Each subject has at most one message to which entries are appended, and a new message
/// begins at a limit.
class MessageEncoder::Messages {
  public:
    Messages(const Options& options, Epoch& epoch, std::vector<uplink::OutgoingMessage>& messages)
        : options_(options), epoch_(epoch), messages_(messages), open_(epoch.subjects.size()) {}

    /// The next entry is the one at `place`.
    void move_to(uplink::BlockPlace place) noexcept { place_ = place; }

    void add(const Known& channel, const TelemetrySample& sample) {
        const std::size_t bytes_max = epoch_.writer->bytes_max(sample);
        Open& open = open_for(channel, bytes_max);
        uplink::OutgoingMessage& message = messages_[open.message];
        const std::size_t before = message.payload.size();
        message.payload.resize(before + bytes_max);
        message.payload.resize(before + epoch_.writer->write(sample, message.payload.data() + before));
        end_entry(open, channel.id, before);
        ++message.samples;
        message.utc_max_ns = std::max(message.utc_max_ns, sample.time_utc_ns);
    }

    void add(const Known& channel, const GapNotice& notice) {
        notice_.clear();
        epoch_.writer->append(notice, notice_);
        Open& open = open_for(channel, notice_.size());
        uplink::OutgoingMessage& message = messages_[open.message];
        const std::size_t before = message.payload.size();
        message.payload += notice_;
        end_entry(open, channel.id, before);
        message.missing += notice.last_seq - notice.first_seq + 1;
    }

    /// Completes the messages.
    void finish() {
        for (Open& open : open_) {
            complete(open);
        }
    }

  private:
    /// The message of a subject. Records do not name their channels, so a message begins with a table of their topics.
    struct Open {
        std::size_t message = 0;
        std::size_t entries = 0;  // 0: there is no message
        std::vector<ChannelId> channels;
        std::size_t topics_bytes = 0;
    };

    Open& open_for(const Known& channel, std::size_t bytes_max) {
        Open& open = open_[channel.subject];
        const std::size_t table_bytes =
            open.topics_bytes + (is_record() ? table_head_bytes + topic_bytes_max : std::size_t{1});
        if (open.entries == options_.samples_max ||
            (open.entries > 0 &&
             messages_[open.message].payload.size() + bytes_max + table_bytes > options_.bytes_max)) {
            complete(open);
        }
        if (open.entries == 0) {
            open.message = messages_.size();
            uplink::OutgoingMessage& message = messages_.emplace_back();
            message.subject = epoch_.subjects[channel.subject];
            message.begin = place_;
        }
        ++open.entries;
        return open;
    }

    void end_entry(Open& open, ChannelId channel, std::size_t begin) {
        std::string& payload = messages_[open.message].payload;
        if (options_.format == MessageFormat::json) {
            payload += '\n';
        } else if (is_record()) {
            store_little_endian(payload.data() + begin + offsetof(Record, reserved), index_in(open, channel));
        }
    }

    /// Returns the index of the channel in the table of the message.
    std::uint32_t index_in(Open& open, ChannelId channel) {
        const std::size_t id = to_index(channel);
        indexes_.resize(std::max(indexes_.size(), id + 1));
        Index& index = indexes_[id];
        if (index.message != open.message + 1) {
            index = {open.message + 1, static_cast<std::uint32_t>(open.channels.size())};
            open.channels.push_back(channel);
            open.topics_bytes += epoch_.channels.at(channel).topic.size() + 1;
        }
        return index.index;
    }

    void complete(Open& open) {
        if (open.entries > 0 && is_record()) {
            std::string table(table_head_bytes, '\0');
            for (const ChannelId channel : open.channels) {
                table += epoch_.channels.at(channel).topic + '\n';
            }
            table.resize((table.size() + alignment - 1) / alignment * alignment, '\n');
            store_little_endian(table.data(), static_cast<std::uint32_t>(open.channels.size()));
            store_little_endian(table.data() + sizeof(std::uint32_t),
                                static_cast<std::uint32_t>(table.size() - table_head_bytes));
            messages_[open.message].payload.insert(0, table);
        }
        open = {};
    }

    [[nodiscard]] bool is_record() const noexcept { return options_.format == MessageFormat::record; }

    static constexpr std::size_t alignment = 8;
    static constexpr std::size_t table_head_bytes = 8;
    static constexpr std::size_t topic_bytes_max = 2 * topic_part_bytes_max + 2 + alignment;
    struct Index {
        std::size_t message = 0;  // its index + 1; 0: none
        std::uint32_t index = 0;
    };

    const Options& options_;
    Epoch& epoch_;
    std::vector<uplink::OutgoingMessage>& messages_;
    std::vector<Open> open_;      // by subject
    std::vector<Index> indexes_;  // by channel of the epoch
    std::string notice_;
    uplink::BlockPlace place_;
};

/// Returns the index of the channel's subject.
std::size_t MessageEncoder::subject_of(const store::SegmentChannel& channel) {
    const auto [found, is_new] =
        epoch_->subject_indexes.try_emplace(subject_.subject(channel.device, channel.channel), epoch_->subjects.size());
    if (is_new) {
        epoch_->subjects.push_back(found->first);
    }
    return found->second;
}

/// Adds the channels of the block to those of the epoch.
void MessageEncoder::learn_channels(const store::LogBatch& block) {
    if (epoch_ == nullptr || epoch_->epoch_ms != block.epoch_ms) {
        epoch_ = std::make_unique<Epoch>(block.epoch_ms, tags_, options_);
    }
    known_.clear();
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
            known_.resize(std::max(known_.size(), index + 1));
            known_[index] = Known{*id, subject_of(channel)};
        }
    }
}

const MessageEncoder::Known* MessageEncoder::find(ChannelId in_block) const noexcept {
    const std::size_t index = to_index(in_block);
    return index < known_.size() && known_[index] ? &*known_[index] : nullptr;
}

void MessageEncoder::encode(const store::LogBatch& block, std::int64_t end_utc_ns,
                            std::vector<uplink::OutgoingMessage>& messages) {
    learn_channels(block);
    Messages all(options_, *epoch_, messages);
    std::uint32_t next_gap = 0;
    for (std::uint32_t i = 0; i <= block.samples.size(); ++i) {
        const bool has_sample = i < block.samples.size();
        // The log has no time for a gap. It is that of the sample after it, so that encoding again has the same result.
        const std::int64_t gap_utc_ns = has_sample ? block.samples[i].time_utc_ns : end_utc_ns;
        for (; next_gap < block.gaps.size() && (!has_sample || block.gaps[next_gap].before_sample <= i); ++next_gap) {
            const store::LogGap& gap = block.gaps[next_gap].gap;
            all.move_to({i, next_gap});
            if (const Known* const channel = find(gap.channel)) {
                all.add(*channel, {channel->id, gap.first_seq, gap.last_seq, to_string(gap.reason), gap_utc_ns});
            }
        }
        all.move_to({i, next_gap});
        const Known* const channel = has_sample ? find(block.samples[i].channel) : nullptr;
        if (channel != nullptr) {
            TelemetrySample sample = block.samples[i];
            sample.channel = channel->id;
            all.add(*channel, sample);
        }
    }
    all.finish();
}

}  // namespace telegate
