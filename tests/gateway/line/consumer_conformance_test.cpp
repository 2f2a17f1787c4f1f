#include "core/publisher.hpp"
#include "core/subscriber.hpp"
#include "durable/durable_log.hpp"
#include "encode/notice_encoder.hpp"
#include "gateway/extremes/channel_extremes.hpp"
#include "gateway/recording/recorder_harness.hpp"
#include "line/history.hpp"
#include "line/pump.hpp"
#include "line/sample_cursor.hpp"
#include "publish/format_feed.hpp"
#include "recording/recorders.hpp"
#include "rest/event_streams.hpp"
#include "store/log_reader.hpp"
#include "support/catch.hpp"
#include "support/rounds.hpp"
#include "support/socket_harness.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

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
    RecorderBench recording;
    ChannelTable& channels = recording.channels;
    const std::vector<ChannelId> channels_of_device{recording.a, recording.b};
    Ledger ledger{2, channels};
    BoundedQueue<TelemetrySample> queue{64, OverflowPolicy::drop_oldest};
    Waker waker;
    std::map<ChannelId, std::uint64_t> captured;
    Pump pump{{bench.reactor, queue, waker, channels, ledger}};
};

/// A consumer under test, with access to what it delivered.
struct ConsumerSubject {
    std::shared_ptr<SampleConsumer> consumer;
    std::function<Delivered()> delivered;  // empty: it delivers no content
    bool has_gaps = true;                  // in the delivered content
};

ConsumerSubject history_subject(ConsumerSource& source) {
    const auto history = std::make_shared<History>(std::size_t{1024} * 1024);
    const auto delivered = [history, &source] {
        Delivered result;
        std::array<TelemetrySample, 100> read;
        SampleCursor cursor(*history, 0);
        for (SampleCursor::Read got = cursor.read(read); !got.at_end(); got = cursor.read(read)) {
            for (std::size_t i = 0; i < got.count; ++i) {
                result[source.channels.at(read[i].channel).topic].push_back({read[i].seq, read[i].seq, false});
            }
            cursor.advance(got.count);
        }
        return result;
    };
    return {history, delivered, false};
}

/// A publisher with a feed in one format, and a subscriber to everything.
///
/// Threads: one. Limits: those of its parts. Failure: none.
struct PublishedFormat {
    PublishedFormat(ConsumerSource& source, PayloadFormat format)
        : publisher(source.bench.reactor, PublisherOptions()),
          subscriber(source.bench.reactor, SocketOptions()),
          inbox(subscriber),
          feed(make_format_feed({format, publisher}, {source.channels, 5, tags, [] {
                                                      }})) {
        subscriber.subscribe("");
        subscriber.connect(publisher.bind(std::get<Endpoint>(parse_endpoint("tcp://127.0.0.1:0"))));
        REQUIRE(source.bench.turn_until([&] { return publisher.totals().subscriptions == 1; }));
    }
    Tags tags;
    Publisher publisher;
    Subscriber subscriber;
    Inbox<Subscriber> inbox;
    std::unique_ptr<FormatFeed> feed;
};

ConsumerSubject format_subject(ConsumerSource& source, PayloadFormat format) {
    const auto parts = std::make_shared<PublishedFormat>(source, format);
    const auto delivered = [parts, format, &source] {
        CHECK(source.bench.turn_until([&] { return parts->inbox.take() == parts->publisher.totals().matched; }));
        Delivered result;
        for (const Frames& frames : parts->inbox.messages) {
            std::string topic = frames.at(0);
            const bool is_gap = topic.ends_with(gap_suffix);
            topic.resize(topic.size() - (is_gap ? gap_suffix.size() : 0));
            const SeqRange seqs = is_gap ? read_notice(format, NoticeKind::gap, frames.at(1)).value().seqs
                                         : read_seqs(format, frames.at(1)).value();
            result[topic].push_back({seqs.first, seqs.last, is_gap});
        }
        return result;
    };
    return {std::shared_ptr<SampleConsumer>(parts, parts->feed.get()), delivered};
}

ConsumerSubject recorder_subject(ConsumerSource& source) {
    const auto recorders = std::make_shared<Recorders>(source.recording.parts());
    recorders->change({source.recording.options("subject")});
    const auto delivered = [recorders, &source] {
        recorders->close();
        Delivered result;
        const ReadRecordings read = source.recording.read("subject");
        for (const auto& [topic, sample] : read.samples) {
            result[topic].push_back({sample.seq, sample.seq, false});
        }
        for (const auto& gap : read.gaps) {  // read separately from the samples, so their order is not visible
            if (std::get<3>(gap) == store::GapReason::not_recorded) {
                continue;  // from before the recording started
            }
            auto& parts = result[std::get<0>(gap)];
            const std::uint64_t first = std::get<1>(gap);
            const auto after =
                std::find_if(parts.begin(), parts.end(), [&](const DeliveredPart& part) { return part.first > first; });
            parts.insert(after, {first, std::get<2>(gap), true});
        }
        return result;
    };
    return {recorders, delivered};
}

ConsumerSubject log_subject(ConsumerSource& source) {
    RecorderBench& bench = source.recording;
    const std::string directory = bench.dir.path("log");
    const auto log = std::make_shared<DurableLog>(
        DurableLog::Parts{bench.channels,
                          bench.clock,
                          bench.log,
                          5,
                          {},
                          [] {
                          }},
        DurableLogOptions{.path = directory, .limits = {}, .sync_interval = std::chrono::milliseconds(0)});
    const auto delivered = [log, directory, &source] {
        log->close();
        Delivered result;
        store::LogReader reader(store::real_file_system(), directory);
        store::LogBatch batch;
        while (reader.next(batch)) {
            auto gap = batch.gaps.begin();
            for (std::uint32_t i = 0; i <= batch.samples.size(); ++i) {
                for (; gap != batch.gaps.end() && gap->before_sample == i; ++gap) {
                    if (gap->gap.reason != store::GapReason::unknown) {  // from before the log was a consumer
                        result[source.channels.at(gap->gap.channel).topic].push_back(
                            {gap->gap.first_seq, gap->gap.last_seq, true});
                    }
                }
                if (i < batch.samples.size()) {
                    const TelemetrySample& sample = batch.samples[i];
                    result[source.channels.at(sample.channel).topic].push_back({sample.seq, sample.seq, false});
                }
            }
        }
        return result;
    };
    return {log, delivered};
}

using MakeSubject = std::function<ConsumerSubject(ConsumerSource&)>;

/// Adds a subject for each payload format.
std::vector<std::pair<std::string_view, MakeSubject>> with_formats(
    std::vector<std::pair<std::string_view, MakeSubject>> subjects) {
    for (const PayloadFormat format : payload_format_names.values) {
        subjects.emplace_back(to_string(format),
                              [format](ConsumerSource& source) { return format_subject(source, format); });
    }
    return subjects;
}

const auto subjects = with_formats({
    {"history", history_subject},
    {"recorders", recorder_subject},
    {"log", log_subject},
    {"streams",
     [](ConsumerSource& /*source*/) {
         return ConsumerSubject{std::make_shared<EventStreams>([] {}, [] {}), {}};
     }},
    {"extremes",
     [](ConsumerSource& source) {
         return ConsumerSubject{std::make_shared<ChannelExtremes>(source.channels), {}};
     }},
});

/// Checks that samples and gaps cover every number from `before` + 1 to `last`, once and in order.
void check_every_number(const std::vector<DeliveredPart>& parts, std::uint64_t before, std::uint64_t last,
                        bool has_gaps) {
    std::uint64_t reached = before;
    for (const DeliveredPart& part : parts) {
        CHECK((has_gaps ? part.first == reached + 1 : part.first > reached));
        CHECK(part.last >= part.first);
        reached = part.last;
    }
    CHECK((has_gaps ? reached == last : reached <= last));
}

/// Keeps samples in the queue on request, and counts calls.
///
/// Threads: one. Limits, Failure: none.
struct ScriptedConsumer final : SampleConsumer {
    [[nodiscard]] std::string_view name() const noexcept override { return "scripted"; }
    void take(std::span<const TelemetrySample> samples) override { counts.taken += samples.size(); }
    void gap(const SampleGap& gap) override { counts.missing += gap.samples(); }
    [[nodiscard]] bool is_wanted() const noexcept override { return wanted; }
    [[nodiscard]] bool must_wait() override { return waits; }
    void flush() override { ++flushes; }
    [[nodiscard]] ConsumerLedger ledger() const override { return counts; }

    ConsumerLedger counts;
    bool wanted = false;
    bool waits = false;
    int flushes = 0;
};

}  // namespace

TEST_CASE("each consumer delivers every sample or gap of each channel once and in order", "[gateway][consumer]") {
    const auto& [name, make] = subjects[GENERATE(range(std::size_t{0}, subjects.size()))];
    CAPTURE(name);
    ConsumerSource source;
    const ConsumerSubject subject = make(source);
    source.pump.feed({subject.consumer.get()});
    std::mt19937 random(1);
    for (int round = 0; round < 40; ++round) {
        source.capture(random, static_cast<int>(random() % 100));
        source.pump.drain_all();
    }
    const ConsumerLedger ledger = subject.consumer->ledger();
    CHECK(ledger.taken + ledger.missing == source.captured_in_all());
    CHECK(ledger.missing > 0);
    if (subject.delivered) {
        const Delivered delivered = subject.delivered();
        for (const ChannelId channel : source.channels_of_device) {
            check_every_number(delivered.at(source.channels.at(channel).topic), 0, source.captured[channel],
                               subject.has_gaps);
        }
    }
}

TEST_CASE("a consumer added by a reload starts with the next batch, and other consumers miss nothing",
          "[gateway][consumer]") {
    const auto& [name, make] = subjects[GENERATE(range(std::size_t{0}, subjects.size()))];
    CAPTURE(name);
    ConsumerSource source;
    std::mt19937 random(2);
    ScriptedConsumer stays;
    source.pump.feed({&stays});
    source.capture(random, 200);
    source.pump.drain_all();
    const auto before = source.captured;
    const ConsumerSubject subject = make(source);
    source.pump.feed({&stays, subject.consumer.get()});
    source.capture(random, 200);
    source.pump.drain_all();
    CHECK(stays.counts.taken + stays.counts.missing == source.captured_in_all());
    const ConsumerLedger ledger = subject.consumer->ledger();
    CHECK(ledger.taken + ledger.missing == 200);
    if (subject.delivered) {
        const Delivered delivered = subject.delivered();
        for (const ChannelId channel : source.channels_of_device) {
            check_every_number(delivered.at(source.channels.at(channel).topic), before.at(channel),
                               source.captured[channel], subject.has_gaps);
        }
    }
    source.pump.feed({&stays});
    source.capture(random, 10);
    source.pump.drain_all();
    CHECK(subject.consumer->ledger().taken == ledger.taken);
}

TEST_CASE("samples stay in the queue while a consumer must wait, and are delivered when it has capacity",
          "[gateway][consumer]") {
    ConsumerSource source;
    std::mt19937 random(3);
    ScriptedConsumer waiting;
    ScriptedConsumer other;
    waiting.wanted = true;
    waiting.waits = true;
    source.pump.feed({&other, &waiting});
    source.pump.start();
    source.capture(random, 10);
    source.waker.wake();
    CHECK(source.bench.turn_until([&] { return waiting.flushes > 0; }));
    CHECK(source.queue.size() == 10);
    CHECK_FALSE(source.pump.has_work());
    CHECK(other.counts.taken == 0);
    waiting.waits = false;
    source.waker.wake();
    CHECK(source.bench.turn_until([&] { return waiting.counts.taken == 10; }));
    CHECK(other.counts.taken == 10);
}

TEST_CASE("the pump wakes up for each sample only while a consumer is wanted", "[gateway][consumer]") {
    ConsumerSource source;
    ScriptedConsumer consumer;
    source.pump.feed({&consumer});
    source.pump.start();
    CHECK(source.bench.turn_until([&] { return source.waker.is_low_power(); }));
    consumer.wanted = true;
    source.waker.wake();
    CHECK(source.bench.turn_until([&] { return !source.waker.is_low_power(); }));
}

TEST_CASE("at a stop everything is delivered, even to a consumer that must wait", "[gateway][consumer]") {
    ConsumerSource source;
    std::mt19937 random(4);
    ScriptedConsumer waiting;
    waiting.waits = true;
    source.pump.feed({&waiting});
    source.capture(random, 300);  // more than the queue holds
    source.pump.drain_all();
    CHECK(waiting.counts.taken == 64);
    CHECK(waiting.counts.taken + waiting.counts.missing == 300);
    CHECK(waiting.flushes > 0);
}

TEST_CASE("the example consumer stores the smallest and the largest number", "[gateway][consumer]") {
    ConsumerSource source;
    std::mt19937 random(5);
    ChannelExtremes extremes(source.channels);
    source.pump.feed({&extremes});
    source.capture(random, 60);
    source.pump.drain_all();
    CHECK(extremes.of(source.recording.a).smallest == 1);
    CHECK(extremes.of(source.recording.a).largest == static_cast<double>(source.captured[source.recording.a]));
}
