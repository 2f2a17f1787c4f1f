#pragma once

#include "base/per_channel.hpp"
#include "core/channel_table.hpp"
#include "core/publisher.hpp"
#include "core/telemetry_sample.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace telegate {

/// Where samples leave in one format: encodes each once, straight into the publisher's log, if anybody wants it.
///
/// An Encoder writes a sample to room of bytes_max(sample) bytes, and has samples_per_payload_max.
///
/// Threads: the publisher's.
/// Limits:  a topic's number per channel, besides what the encoder keeps.
/// Failure: the first sample of a channel may throw std::bad_alloc.
template <class Encoder>
class Outlet {
  public:
    /// `more` is what this encoder takes besides.
    template <class... More>
    Outlet(Publisher& publisher, const ChannelTable& channels, std::int64_t epoch_ms, const More&... more)
        : publisher_(&publisher), encoder_(channels, epoch_ms, more...), topics_(channels) {}

    void publish(std::span<const TelemetrySample> samples) {
        while (!samples.empty()) {
            const std::size_t count = samples_of_next_payload(samples);
            publish_payload(samples.first(count));
            samples = samples.subspan(count);
        }
    }
    /// The payload of one sample by itself.
    void append(std::string& out, const TelemetrySample& sample) {
        const std::size_t before = out.size();
        out.resize(before + encoder_.bytes_max(sample));
        out.resize(before + encoder_.encode(sample, out.data() + before));
    }
    /// Hands what was published to the sockets.
    void flush() { publisher_->flush(); }

  private:
    /// Those of one channel that stand together at the front, as many as a payload takes.
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
                                         [this](const ChannelInfo& info) { return publisher_->intern(info.topic); });
        std::size_t bytes_max = 0;
        for (const TelemetrySample& sample : samples) {
            bytes_max += encoder_.bytes_max(sample);
        }
        char* const payload = publisher_->prepare_if_wanted(topic, bytes_max);
        if (payload == nullptr) {
            return;
        }
        char* end = payload;
        for (const TelemetrySample& sample : samples) {
            end += encoder_.encode(sample, end);
        }
        publisher_->commit(static_cast<std::size_t>(end - payload));
    }

    Publisher* publisher_;
    Encoder encoder_;
    PerChannel<TopicId> topics_;
};

}  // namespace telegate
