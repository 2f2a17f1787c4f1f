#pragma once

#include "base/per_channel.hpp"
#include "core/channel_table.hpp"
#include "line/sample_consumer.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

namespace telegate::test {

/// Stores the smallest and the largest number of each channel: the example in docs/consumers.md.
///
/// Threads: the pump's. Limits: 16 bytes per channel. Failure: as SampleConsumer.
class ChannelExtremes final : public SampleConsumer {
  public:
    struct Range {
        double smallest = std::numeric_limits<double>::infinity();
        double largest = -std::numeric_limits<double>::infinity();
    };

    explicit ChannelExtremes(const ChannelTable& channels) : ranges_(channels) {}

    [[nodiscard]] std::string_view name() const noexcept override { return "extremes"; }
    void consume(std::span<const TelemetrySample> samples) override {
        ledger_.taken += samples.size();
        for (const TelemetrySample& sample : samples) {
            if (sample.type == ValueType::real) {
                Range& range = of(sample.channel);
                range.smallest = std::min(range.smallest, sample.value.real);
                range.largest = std::max(range.largest, sample.value.real);
            }
        }
    }
    void gap(const SampleGap& gap) override { ledger_.missing += gap.samples(); }
    [[nodiscard]] ConsumerLedger ledger() const override { return ledger_; }

    [[nodiscard]] Range& of(ChannelId channel) {
        return ranges_.of(channel, [](const ChannelInfo&) { return Range(); });
    }

  private:
    PerChannel<Range> ranges_;
    ConsumerLedger ledger_;
};

}  // namespace telegate::test
