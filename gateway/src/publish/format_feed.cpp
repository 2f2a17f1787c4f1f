#include "publish/format_feed.hpp"

#include "encode/encoders.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <type_traits>

namespace telegate {
namespace {

std::string topic_of(const GapNotice& /*notice*/, const ChannelInfo& channel) {
    return gap_topic(channel);
}

std::string topic_of(const BeatNotice& /*notice*/, const ChannelInfo& channel) {
    return beat_topic(channel);
}

/// The feed of one encoder. Threads, Limits, Failure: as FormatFeed.
template <class Encoder>
class EncodedFeed final : public FormatFeed {
  public:
    EncodedFeed(const FormatPublisher& to, const Parts& parts)
        : FormatFeed(to, parts), encoder_(parts.channels, parts.epoch_ms, parts.labels), topics_(parts.channels) {}

    void consume(std::span<const TelemetrySample> samples) override {
        ledger_.taken += samples.size();
        while (!samples.empty()) {
            const std::size_t count = samples_of_next_payload(samples);
            publish_payload(samples.first(count));
            samples = samples.subspan(count);
        }
    }
    void set_labels(const SharedLabels& labels) override { encoder_.set_labels(labels); }
    void append(std::string& out, const TelemetrySample& sample) override {
        const std::size_t before = out.size();
        out.resize(before + encoder_.bytes_max(sample));
        out.resize(before + encoder_.encode(sample, out.data() + before));
    }

  private:
    /// Returns the number of samples at the front that share a channel, as many as fit in a payload.
    [[nodiscard]] static std::size_t samples_of_next_payload(std::span<const TelemetrySample> samples) noexcept {
        const std::size_t most = std::min(samples.size(), Encoder::samples_per_payload_max);
        std::size_t count = 1;
        while (count < most && samples[count].channel == samples.front().channel) {
            ++count;
        }
        return count;
    }

    void publish_payload(std::span<const TelemetrySample> samples) {
        const TopicId topic = topics_.of(samples.front().channel,
                                         [this](const ChannelInfo& info) { return publisher_.intern(info.topic); });
        std::size_t bytes_max = 0;
        for (const TelemetrySample& sample : samples) {
            bytes_max += encoder_.bytes_max(sample);
        }
        char* const payload = publisher_.prepare_if_wanted(topic, bytes_max);
        if (payload == nullptr) {
            return;
        }
        char* end = payload;
        for (const TelemetrySample& sample : samples) {
            end += encoder_.encode(sample, end);
        }
        publisher_.commit(static_cast<std::size_t>(end - payload),
                          {samples.front().channel, samples.front().seq, samples.back().seq});
    }

    Encoder encoder_;
    PerChannel<TopicId> topics_;
};

}  // namespace

FormatFeed::FormatFeed(const FormatPublisher& to, const Parts& parts)
    : publisher_(to.publisher),
      format_(to.format),
      channels_(parts.channels),
      notice_encoder_(to.format, {parts.channels, parts.epoch_ms}),
      gap_topics_(parts.channels),
      beat_topics_(parts.channels) {
    publisher_.set_on_room(parts.on_room);
}

FormatFeed::~FormatFeed() {
    publisher_.set_on_room({});
}

/// Returns whether a subscriber wanted the notice.
template <class Notice, class... Missing>
bool FormatFeed::publish(Topics& topics, const Notice& notice, const Missing&... missing) {
    if (!publisher_.has_subscriptions()) {
        return false;
    }
    std::optional<TopicId>& topic = topics.of(notice.channel, [](const ChannelInfo&) { return std::nullopt; });
    if (!topic) {
        topic = publisher_.intern(topic_of(notice, channels_.at(notice.channel)));
    }
    if (!publisher_.wanted(*topic)) {
        return false;
    }
    payload_.clear();
    notice_encoder_.append(notice, payload_);
    publisher_.send(*topic, payload_, missing...);
    return true;
}

void FormatFeed::gap(const SampleGap& gap) {
    ledger_.missing += gap.samples();
    const GapNotice notice{gap.channel, gap.first_seq, gap.last_seq, to_string(gap.reason), clock_.utc_now_ns()};
    if (publish(gap_topics_, notice, SampleRange{gap.channel, gap.first_seq, gap.last_seq})) {
        ++notices_.gaps;
    }
}

void FormatFeed::heartbeat(ChannelId channel, std::uint64_t seq) {
    if (publish(beat_topics_, BeatNotice{channel, seq, clock_.utc_now_ns()})) {
        ++notices_.heartbeats;
    }
}

std::unique_ptr<FormatFeed> make_format_feed(const FormatPublisher& to, const FormatFeed::Parts& parts) {
    return with_encoder(to.format, [&]<class Encoder>(std::type_identity<Encoder>) -> std::unique_ptr<FormatFeed> {
        return std::make_unique<EncodedFeed<Encoder>>(to, parts);
    });
}

}  // namespace telegate
