#pragma once

#include "core/bounded_queue.hpp"
#include "core/ledger.hpp"
#include "core/waker.hpp"
#include "gateway/durable/log_harness.hpp"
#include "line/pump.hpp"
#include "line/sample_consumer.hpp"
#include "support/catch.hpp"
#include "support/socket_harness.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace telegate::test {

/// Sequence numbers of samples or of a gap of one channel.
struct DeliveredPart {
    std::uint64_t first;
    std::uint64_t last;
    bool is_gap;
};
/// The samples and gaps that a consumer delivered, by topic.
using Delivered = std::map<std::string, std::vector<DeliveredPart>>;

/// The sampling side, the queue and the pump, all in one thread.
///
/// Threads: one. Limits: the queue's. Failure: none.
struct ConsumerSource {
    /// Captures samples of random channels; while the queue is full, they are dropped.
    void capture(std::mt19937& random, int count) {
        for (int i = 0; i < count; ++i) {
            TelemetrySample sample{};
            sample.channel = channels_of_device[random() % channels_of_device.size()];
            sample.seq = ++captured[sample.channel];
            sample.type = ValueType::real;
            sample.value.real = static_cast<double>(sample.seq);
            const std::array one{sample};
            ledger.captured(DeviceId{0}, one);
            queue.push(queue.first(), one, [this](const TelemetrySample& lost, QueueLoss) {
                ledger.dropped_at_queue(lost, DropReason::queue_overflow);
            });
        }
    }
    [[nodiscard]] std::uint64_t captured_in_all() const {
        std::uint64_t sum = 0;
        for (const auto& [channel, seq] : captured) {
            sum += seq;
        }
        return sum;
    }

    Bench bench;
    LogBench logged;
    ChannelTable& channels = logged.channels;
    const std::vector<ChannelId> channels_of_device{logged.a, logged.b};
    Ledger ledger{2, channels};
    BoundedQueue<TelemetrySample> queue{64, OverflowPolicy::drop_oldest};
    QueueWaker waker;
    std::map<ChannelId, std::uint64_t> captured;
    Pump pump{{bench.reactor, queue, waker, channels, ledger}};
};

/// A consumer under test, with access to what it delivered.
struct ConsumerSubject {
    std::shared_ptr<SampleConsumer> consumer;
    std::function<Delivered()> delivered;  // empty: it delivers no content
    bool has_gaps = true;                  // in the delivered content
};

using MakeSubject = std::function<ConsumerSubject(ConsumerSource&)>;

/// Keeps samples in the queue on request, and counts calls.
///
/// Threads: one. Limits, Failure: none.
struct ScriptedConsumer final : SampleConsumer {
    [[nodiscard]] std::string_view name() const noexcept override { return "scripted"; }
    void consume(std::span<const TelemetrySample> samples) override { counts.taken += samples.size(); }
    void gap(const SampleGap& gap) override { counts.missing += gap.samples(); }
    [[nodiscard]] std::chrono::milliseconds queue_delay_max() const noexcept override { return delay; }
    [[nodiscard]] bool must_wait() override { return waits; }
    void flush() override { ++flushes; }
    [[nodiscard]] ConsumerLedger ledger() const override { return counts; }

    ConsumerLedger counts;
    std::chrono::milliseconds delay = delay_longest;
    bool waits = false;
    int flushes = 0;
};

/// Checks that a consumer delivers every sample or gap of each channel once and in order.
void check_delivery(const MakeSubject& make);
/// Checks that a consumer added by a reload starts with the next batch, and that other consumers miss nothing.
void check_reload(const MakeSubject& make);

}  // namespace telegate::test
