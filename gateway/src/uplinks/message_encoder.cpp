#include "uplinks/message_encoder.hpp"

#include "base/topic_filter.hpp"
#include "core/channel_table.hpp"
#include "core/endian.hpp"
#include "core/topic.hpp"
#include "encode/encoders.hpp"
#include "encode/notice.hpp"
#include "store/segment_reader.hpp"

#include <algorithm>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace telegate {
namespace {

/// The encoder of a type of uplink with a format of its own.
class OwnEncoder {
  public:
    explicit OwnEncoder(std::unique_ptr<uplink::EntryEncoder> encoder) : encoder_(std::move(encoder)) {}

    void add_channel(const ChannelInfo& info, const Tags& tags) {
        uplink::EntryTags pairs;
        pairs.reserve(tags.size());
        for (const Tag& tag : tags) {
            pairs.emplace_back(tag.name, tag.value);
        }
        encoder_->add_channel(info, pairs);
    }
    [[nodiscard]] std::size_t bytes_max(const TelemetrySample& sample) const noexcept {
        return encoder_->bytes_max(sample);
    }
    [[nodiscard]] std::size_t encode(const TelemetrySample& sample, char* to) noexcept {
        return encoder_->encode(sample, to);
    }
    void append(const GapNotice& notice, std::string& to) {
        encoder_->append_gap({notice.channel, notice.first_seq, notice.last_seq, notice.reason, notice.time_utc_ns},
                             to);
    }

  private:
    std::unique_ptr<uplink::EntryEncoder> encoder_;
};

template <class... Encoder>
std::variant<Encoder..., OwnEncoder> variant_of(const std::tuple<Encoder...>&);
using AnyEncoder = decltype(variant_of(std::declval<Encoders>()));

// MessageFormat begins with the payload formats, in the same order.
static_assert(std::equal(payload_format_names.names.begin(), payload_format_names.names.end(),
                         message_format_names.names.begin()));

}  // namespace

/// The channels of an epoch, and what is prepared for each.
struct MessageEncoder::Epoch {
    Epoch(std::int64_t start_ms, const SharedLabels& labels, const Options& options)
        : epoch_ms(start_ms),
          encoder(options.make_encoder
                      ? AnyEncoder(OwnEncoder(options.make_encoder(start_ms)))
                      : with_encoder(static_cast<PayloadFormat>(options.format),
                                     [&]<class Encoder>(std::type_identity<Encoder>) {
                                         return AnyEncoder(std::in_place_type<Encoder>, channels, start_ms, labels);
                                     })),
          filter(channels, options.topics) {}

    std::int64_t epoch_ms;
    ChannelTable channels;
    AnyEncoder encoder;
    TopicFilter filter;
    std::vector<std::string> subjects;  // by channel
};

MessageEncoder::MessageEncoder(SharedLabels labels, Options options)
    : labels_(std::move(labels)), options_(std::move(options)), subject_(options_.subject, gateway_of(labels_)) {}

MessageEncoder::~MessageEncoder() = default;

/// The messages of a block. A new one begins with each subject, and at a limit. The entries of a message are collected
/// first, so that its payload is allocated once and has its final size. Functions that do not run for every
/// sample are cold, that is, optimized for size.
template <class Encoder>
class MessageEncoder::Messages {
  public:
    Messages(MessageEncoder& owner, Encoder& encoder, std::vector<uplink::OutgoingMessage>& messages)
        : options_(owner.options_),
          has_one_subject_(!owner.subject_.depends_on_channel()),
          epoch_(*owner.epoch_),
          encoder_(encoder),
          messages_(messages),
          buffer_(owner.entries_) {}

    /// The next entry is the one at `place`.
    void move_to(uplink::BlockPlace place) noexcept { place_ = place; }

    void add(const TelemetrySample& sample) {
        const std::size_t bytes_max = encoder_.bytes_max(sample);
        uplink::OutgoingMessage& message = message_for(sample.channel, bytes_max);
        if constexpr (is_own) {
            if (bytes_max == 0) {
                ++message.omitted;
                return;
            }
        }
        end_entry(sample.channel, encoder_.encode(sample, memory_for(bytes_max)));
        ++message.samples;
        message.utc_max_ns = std::max(message.utc_max_ns, sample.time_utc_ns);
    }

    [[gnu::noinline, gnu::cold]] void add(const GapNotice& notice) {
        notice_.clear();
        if constexpr (is_own) {
            encoder_.append(notice, notice_);
        } else {
            Encoder::Notices::append({epoch_.channels, epoch_.epoch_ms}, notice, notice_);
        }
        uplink::OutgoingMessage& message = message_for(notice.channel, notice_.size());
        std::copy(notice_.begin(), notice_.end(), memory_for(notice_.size()));
        end_entry(notice.channel, notice_.size());
        message.missing += notice.last_seq - notice.first_seq + 1;
    }

    /// Completes the last message.
    [[gnu::noinline, gnu::cold]] void complete() {
        if (entries_ > 0) {
            std::string& payload = messages_.back().payload;
            if constexpr (is_record) {
                write_table(payload);
            }
            payload.reserve(payload.size() + bytes_);
            payload.append(buffer_, 0, bytes_);
        }
        entries_ = 0;
        bytes_ = 0;
        table_.clear();
        topics_bytes_ = 0;
        ++completed_;
    }

  private:
    static constexpr bool is_json = std::is_same_v<Encoder, JsonEncoder>;
    static constexpr bool is_own = std::is_same_v<Encoder, OwnEncoder>;
    static constexpr bool is_record = std::is_same_v<Encoder, RecordEncoder>;
    static constexpr std::size_t alignment = 8;
    static constexpr std::size_t table_head_bytes = 8;
    static constexpr std::size_t topic_bytes_max = 2 * topic_part_bytes_max + 2 + alignment;

    /// Returns the message for an entry of at most `bytes_max` bytes.
    uplink::OutgoingMessage& message_for(ChannelId channel, std::size_t bytes_max) {
        const std::size_t more_bytes =
            bytes_max + (is_record ? topics_bytes_ + table_head_bytes + topic_bytes_max : std::size_t{1});
        if (entries_ > 0 && (entries_ == options_.samples_max || bytes_ + more_bytes > options_.bytes_max ||
                             (!has_one_subject_ && messages_.back().subject != epoch_.subjects[to_index(channel)]))) {
            complete();
        }
        if (entries_++ == 0) {
            begin_message(channel);
        }
        return messages_.back();
    }

    [[gnu::noinline, gnu::cold]] void begin_message(ChannelId channel) {
        uplink::OutgoingMessage& message = messages_.emplace_back();
        message.subject = epoch_.subjects[to_index(channel)];
        message.begin = place_;
    }

    /// Returns memory for the next entry and a line feed after it.
    [[nodiscard]] char* memory_for(std::size_t bytes_max) {
        if (buffer_.size() - bytes_ <= bytes_max) {
            grow_buffer(bytes_max);
        }
        return buffer_.data() + bytes_;
    }

    [[gnu::noinline, gnu::cold]] void grow_buffer(std::size_t bytes_max) {
        buffer_.resize(std::max(bytes_ + bytes_max + 1, std::min(2 * buffer_.size(), options_.bytes_max)));
    }

    void end_entry(ChannelId channel, std::size_t bytes) {
        char* const begin = buffer_.data() + bytes_;
        bytes_ += bytes;
        if constexpr (is_json) {
            begin[bytes] = '\n';
            ++bytes_;
        } else if constexpr (is_record) {
            store_little_endian(begin + offsetof(Record, reserved), index_in_table(channel));
        }
    }

    std::uint32_t index_in_table(ChannelId channel) {
        const std::size_t id = to_index(channel);
        if (id >= indexes_.size() || indexes_[id].message != completed_ + 1) {
            add_to_table(channel);
        }
        return indexes_[id].index;
    }

    [[gnu::noinline, gnu::cold]] void add_to_table(ChannelId channel) {
        const std::size_t id = to_index(channel);
        indexes_.resize(std::max(indexes_.size(), id + 1));
        indexes_[id] = {completed_ + 1, static_cast<std::uint32_t>(table_.size())};
        table_.push_back(channel);
        topics_bytes_ += epoch_.channels.at(channel).topic.size() + 1;
    }

    /// Records do not name their channels, so a table of their topics precedes them.
    [[gnu::noinline, gnu::cold]] void write_table(std::string& payload) const {
        const std::size_t table_bytes = (topics_bytes_ + alignment - 1) / alignment * alignment;
        payload.reserve(table_head_bytes + table_bytes + bytes_);
        payload.resize(table_head_bytes);
        store_little_endian(payload.data(), static_cast<std::uint32_t>(table_.size()));
        store_little_endian(payload.data() + sizeof(std::uint32_t), static_cast<std::uint32_t>(table_bytes));
        for (const ChannelId channel : table_) {
            payload += epoch_.channels.at(channel).topic;
            payload += '\n';
        }
        payload.resize(table_head_bytes + table_bytes, '\n');
    }

    /// The place of a channel in the table of a message.
    struct Index {
        std::size_t message = 0;  // 0: none
        std::uint32_t index = 0;
    };

    const Options& options_;
    const bool has_one_subject_;
    const Epoch& epoch_;
    Encoder& encoder_;
    std::vector<uplink::OutgoingMessage>& messages_;
    std::string& buffer_;           // begins with the entries of the last message
    std::size_t bytes_ = 0;         // of these entries
    std::size_t entries_ = 0;       // 0: there is no message
    std::size_t completed_ = 0;     // messages
    std::vector<ChannelId> table_;  // of the last message; only for records
    std::size_t topics_bytes_ = 0;  // in the table
    std::vector<Index> indexes_;    // by channel
    std::string notice_;
    uplink::BlockPlace place_;
};

/// Adds the channels of the block to those of the epoch.
[[gnu::cold]] void MessageEncoder::learn_channels(const store::LogBatch& block) {
    if (epoch_ == nullptr || epoch_->epoch_ms != block.epoch_ms) {
        epoch_ = std::make_unique<Epoch>(block.epoch_ms, labels_, options_);
        learned_.reset();
    }
    std::optional<Definitions> definitions;
    if (block.definitions != nullptr && block.segment != nullptr) {
        const store::SegmentHead& head = block.segment->head();
        definitions = {head.log_id, head.first_position, block.definitions->size()};
    }
    if (definitions && learned_ == definitions) {
        return;
    }
    learned_.reset();
    known_.clear();
    if (block.definitions == nullptr) {
        return;
    }
    for (const store::SegmentChannel& channel : *block.definitions) {
        const std::size_t known = epoch_->channels.size();
        const auto id = epoch_->channels.add(DeviceId{0}, channel.device, channel.channel, channel.unit);
        if (auto* const own = std::get_if<OwnEncoder>(&epoch_->encoder);
            own != nullptr && id && epoch_->channels.size() > known) {
            own->add_channel(epoch_->channels.at(*id), tags_of(labels_, epoch_->channels.at(*id)));
        }
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
    learned_ = definitions;
}

std::optional<ChannelId> MessageEncoder::find(ChannelId in_block) const noexcept {
    const std::size_t index = to_index(in_block);
    return index < known_.size() ? known_[index] : std::nullopt;
}

[[gnu::cold]] void MessageEncoder::arrange(store::LogBatch& block) {
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
    std::visit([&](auto& encoder) { encode_with(encoder, block, end_utc_ns, messages); }, epoch_->encoder);
}

template <class Encoder>
void MessageEncoder::encode_with(Encoder& encoder, const store::LogBatch& block, std::int64_t end_utc_ns,
                                 std::vector<uplink::OutgoingMessage>& messages) {
    Messages<Encoder> all(*this, encoder, messages);
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
