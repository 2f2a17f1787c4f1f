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

/// The messages of a block. A new one begins with each subject, and at a limit.
class MessageEncoder::Messages {
  public:
    Messages(const Options& options, Epoch& epoch, std::vector<uplink::OutgoingMessage>& messages)
        : options_(options), epoch_(epoch), messages_(messages) {}

    /// The next entry is the one at `place`.
    void move_to(uplink::BlockPlace place) noexcept { place_ = place; }

    void add(const TelemetrySample& sample) {
        const std::size_t bytes_max = epoch_.writer->bytes_max(sample);
        uplink::OutgoingMessage& message = message_for(sample.channel, bytes_max);
        const std::size_t before = message.payload.size();
        message.payload.resize(before + bytes_max);
        message.payload.resize(before + epoch_.writer->write(sample, message.payload.data() + before));
        end_entry(sample.channel, before);
        ++message.samples;
        message.utc_max_ns = std::max(message.utc_max_ns, sample.time_utc_ns);
    }

    void add(const GapNotice& notice) {
        notice_.clear();
        epoch_.writer->append(notice, notice_);
        uplink::OutgoingMessage& message = message_for(notice.channel, notice_.size());
        const std::size_t before = message.payload.size();
        message.payload += notice_;
        end_entry(notice.channel, before);
        message.missing += notice.last_seq - notice.first_seq + 1;
    }

    /// Completes the last message. Records do not name their channels, so a table of their topics precedes them.
    void complete() {
        if (entries_ > 0 && is_record()) {
            std::string table(table_head_bytes, '\0');
            for (const ChannelId channel : table_) {
                table += epoch_.channels.at(channel).topic + '\n';
            }
            table.resize((table.size() + alignment - 1) / alignment * alignment, '\n');
            store_little_endian(table.data(), static_cast<std::uint32_t>(table_.size()));
            store_little_endian(table.data() + sizeof(std::uint32_t),
                                static_cast<std::uint32_t>(table.size() - table_head_bytes));
            messages_.back().payload.insert(0, table);
        }
        entries_ = 0;
        table_.clear();
        topics_bytes_ = 0;
        ++completed_;
    }

  private:
    /// Returns the message for an entry of at most `bytes_max` bytes.
    uplink::OutgoingMessage& message_for(ChannelId channel, std::size_t bytes_max) {
        const std::string& subject = epoch_.subjects[to_index(channel)];
        const std::size_t more_bytes =
            bytes_max + (is_record() ? topics_bytes_ + table_head_bytes + topic_bytes_max : std::size_t{1});
        if (entries_ > 0 && (entries_ == options_.samples_max || messages_.back().subject != subject ||
                             messages_.back().payload.size() + more_bytes > options_.bytes_max)) {
            complete();
        }
        if (entries_++ == 0) {
            uplink::OutgoingMessage& message = messages_.emplace_back();
            message.subject = subject;
            message.begin = place_;
        }
        return messages_.back();
    }

    void end_entry(ChannelId channel, std::size_t begin) {
        std::string& payload = messages_.back().payload;
        if (options_.format == MessageFormat::json) {
            payload += '\n';
        } else if (is_record()) {
            store_little_endian(payload.data() + begin + offsetof(Record, reserved), index_in_table(channel));
        }
    }

    std::uint32_t index_in_table(ChannelId channel) {
        const std::size_t id = to_index(channel);
        indexes_.resize(std::max(indexes_.size(), id + 1));
        Index& index = indexes_[id];
        if (index.message != completed_ + 1) {
            index = {completed_ + 1, static_cast<std::uint32_t>(table_.size())};
            table_.push_back(channel);
            topics_bytes_ += epoch_.channels.at(channel).topic.size() + 1;
        }
        return index.index;
    }

    [[nodiscard]] bool is_record() const noexcept { return options_.format == MessageFormat::record; }

    static constexpr std::size_t alignment = 8;
    static constexpr std::size_t table_head_bytes = 8;
    static constexpr std::size_t topic_bytes_max = 2 * topic_part_bytes_max + 2 + alignment;
    /// The place of a channel in the table of a message.
    struct Index {
        std::size_t message = 0;  // 0: none
        std::uint32_t index = 0;
    };

    const Options& options_;
    Epoch& epoch_;
    std::vector<uplink::OutgoingMessage>& messages_;
    std::size_t entries_ = 0;       // of the last message; 0: there is none
    std::size_t completed_ = 0;     // messages
    std::vector<ChannelId> table_;  // of the last message; only for records
    std::size_t topics_bytes_ = 0;  // in the table
    std::vector<Index> indexes_;    // by channel
    std::string notice_;
    uplink::BlockPlace place_;
};

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
        if (!id || !epoch_->filter.matches(*id)) {
            continue;
        }
        const std::size_t index = to_index(channel.id);
        known_.resize(std::max(known_.size(), index + 1));
        known_[index] = id;
        epoch_->subjects.resize(std::max(epoch_->subjects.size(), std::size_t{to_index(*id)} + 1));
        if (std::string& subject = epoch_->subjects[to_index(*id)]; subject.empty()) {
            subject = subject_.subject(channel.device, channel.channel);
        }
    }
}

std::optional<ChannelId> MessageEncoder::find(ChannelId in_block) const noexcept {
    const std::size_t index = to_index(in_block);
    return index < known_.size() ? known_[index] : std::nullopt;
}

void MessageEncoder::arrange(store::LogBatch& block) {
    if (!subject_.depends_on_channel()) {
        return;
    }
    learn_channels(block);
    const std::string none;
    const auto subject_of = [&](ChannelId in_block) -> const std::string& {
        const auto channel = find(in_block);
        return channel ? epoch_->subjects[to_index(*channel)] : none;
    };
    struct Entry {
        const std::string* subject;
        const store::LogGap* gap;  // null: a sample
        std::uint32_t index;       // of the sample
    };
    std::vector<Entry> entries;
    entries.reserve(block.samples.size() + block.gaps.size());
    std::size_t next_gap = 0;
    for (std::uint32_t i = 0; i <= block.samples.size(); ++i) {
        const bool is_end = i == block.samples.size();
        for (; next_gap < block.gaps.size() && (is_end || block.gaps[next_gap].before_sample <= i); ++next_gap) {
            const store::LogGap& gap = block.gaps[next_gap].gap;
            entries.push_back({&subject_of(gap.channel), &gap, 0});
        }
        if (!is_end) {
            entries.push_back({&subject_of(block.samples[i].channel), nullptr, i});
        }
    }
    std::stable_sort(entries.begin(), entries.end(),
                     [](const Entry& a, const Entry& b) { return *a.subject < *b.subject; });
    std::vector<TelemetrySample> samples;
    std::vector<store::BlockGap> gaps;
    samples.reserve(block.samples.size());
    for (const Entry& entry : entries) {
        if (entry.gap != nullptr) {
            gaps.push_back({static_cast<std::uint32_t>(samples.size()), *entry.gap});
        } else {
            samples.push_back(block.samples[entry.index]);
        }
    }
    block.samples = std::move(samples);
    block.gaps = std::move(gaps);
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
            if (const auto channel = find(gap.channel)) {
                all.add(GapNotice{*channel, gap.first_seq, gap.last_seq, to_string(gap.reason), gap_utc_ns});
            }
        }
        all.move_to({i, next_gap});
        if (const auto channel = has_sample ? find(block.samples[i].channel) : std::nullopt) {
            TelemetrySample sample = block.samples[i];
            sample.channel = *channel;
            all.add(sample);
        }
    }
    all.complete();
}

}  // namespace telegate
