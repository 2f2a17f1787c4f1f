#pragma once

#include "base/per_channel.hpp"
#include "config/payload_format.hpp"
#include "core/channel_table.hpp"
#include "core/clock.hpp"
#include "core/publisher.hpp"
#include "encode/labels.hpp"
#include "encode/notice.hpp"
#include "line/sample_consumer.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// A format and its publisher.
struct FormatPublisher {
    PayloadFormat format;
    Publisher& publisher;
};

/// Counters of published notices in one format.
struct NoticeTotals {
    std::uint64_t gaps = 0;
    std::uint64_t heartbeats = 0;
};

/// Publishes samples in one format: encodes each once, directly into the publisher's log, and only if a subscriber
/// wants it. Gaps and heartbeats are published as notices.
///
/// Threads: the publisher's.
/// Limits: three topics per channel, and the memory of the encoder.
/// Failure: the first sample or notice of a channel may throw std::bad_alloc.
class FormatFeed : public SampleConsumer {
  public:
    struct Parts {
        const ChannelTable& channels;
        std::int64_t epoch_ms;  // start of the gateway, ms since 1970 UTC
        SharedLabels labels;
        std::function<void()> on_room;  // called when must_wait() may have changed
    };
    ~FormatFeed() override;

    [[nodiscard]] std::string_view name() const noexcept final { return to_string(format_); }
    void gap(const SampleGap& gap) final;
    [[nodiscard]] std::chrono::milliseconds queue_delay_max() const noexcept final {
        return publisher_.has_subscriptions() ? std::chrono::milliseconds(0) : delay_longest;
    }
    [[nodiscard]] bool must_wait() final { return publisher_.must_wait(); }
    void flush() final { publisher_.flush(); }
    [[nodiscard]] ConsumerLedger ledger() const final { return ledger_; }

    /// Publishes a heartbeat notice: an idle channel has reached `seq`.
    void heartbeat(ChannelId channel, std::uint64_t seq);
    virtual void set_labels(const SharedLabels& labels) = 0;
    /// Appends the payload of one sample.
    virtual void append(std::string& out, const TelemetrySample& sample) = 0;

    [[nodiscard]] PayloadFormat format() const noexcept { return format_; }
    [[nodiscard]] const Publisher& publisher() const noexcept { return publisher_; }
    [[nodiscard]] const NoticeTotals& notices() const noexcept { return notices_; }

  protected:
    FormatFeed(const FormatPublisher& to, const Parts& parts);

    Publisher& publisher_;
    ConsumerLedger ledger_;

  private:
    using Topics = PerChannel<std::optional<TopicId>>;
    template <class Notice, class... Missing>
    bool publish(Topics& topics, const Notice& notice, const Missing&... missing);

    const PayloadFormat format_;
    const ChannelTable& channels_;
    const SystemClock clock_;
    NoticeEncoder notice_encoder_;
    Topics gap_topics_;
    Topics beat_topics_;
    NoticeTotals notices_;
    std::string payload_;
};

/// Creates the feed of one format. The publisher and the objects that `parts` refers to must outlive it.
[[nodiscard]] std::unique_ptr<FormatFeed> make_format_feed(const FormatPublisher& to, const FormatFeed::Parts& parts);

}  // namespace telegate
