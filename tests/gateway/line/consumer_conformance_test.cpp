#include "gateway/line/consumer_conformance.hpp"
#include "core/publisher.hpp"
#include "core/subscriber.hpp"
#include "durable/durable_log.hpp"
#include "encode/notice.hpp"
#include "gateway/encode/encoder_harness.hpp"
#include "line/history.hpp"
#include "line/pump.hpp"
#include "line/sample_cursor.hpp"
#include "publish/format_feed.hpp"
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
using namespace std::chrono_literals;

namespace {

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
          feed(make_format_feed({format, publisher}, {source.channels, 5, nullptr, [] {
                                                      }})) {
        subscriber.subscribe("");
        subscriber.connect(publisher.bind(std::get<Endpoint>(parse_endpoint("tcp://127.0.0.1:0"))));
        REQUIRE(source.bench.turn_until([&] { return publisher.totals().subscriptions == 1; }));
    }
    Publisher publisher;
    Subscriber subscriber;
    Inbox<Subscriber> inbox;
    std::unique_ptr<FormatFeed> feed;
};

ConsumerSubject format_subject(ConsumerSource& source, PayloadFormat format) {
    const auto parts = std::make_shared<PublishedFormat>(source, format);
    const auto delivered = [parts, format, &source] {
        CHECK(source.bench.turn_until([&] { return parts->inbox.receive() == parts->publisher.totals().matched; }));
        Delivered result;
        for (const Frames& frames : parts->inbox.messages) {
            std::string topic = frames.at(0);
            const bool is_gap = topic.ends_with(gap_suffix);
            topic.resize(topic.size() - (is_gap ? gap_suffix.size() : 0));
            const SeqRange seqs = is_gap ? read_notice(format, NoticeKind::gap, frames.at(1)).value().seqs
                                         : seqs_of(format, frames.at(1));
            result[topic].push_back({seqs.first, seqs.last, is_gap});
        }
        return result;
    };
    return {std::shared_ptr<SampleConsumer>(parts, parts->feed.get()), delivered};
}

ConsumerSubject log_subject(ConsumerSource& source) {
    LogBench& bench = source.logged;
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
    {"log", log_subject},
    {"streams",
     [](ConsumerSource& /*source*/) {
         return ConsumerSubject{std::make_shared<EventStreams>([] {}, [] {}), {}};
     }},
});

}  // namespace

TEST_CASE("each consumer delivers every sample or gap of each channel once and in order", "[gateway][consumer]") {
    const auto& [name, make] = subjects[GENERATE(range(std::size_t{0}, subjects.size()))];
    CAPTURE(name);
    check_delivery(make);
}

TEST_CASE("a consumer added by a reload starts with the next batch, and other consumers miss nothing",
          "[gateway][consumer]") {
    const auto& [name, make] = subjects[GENERATE(range(std::size_t{0}, subjects.size()))];
    CAPTURE(name);
    check_reload(make);
}

TEST_CASE("samples stay in the queue while a consumer must wait, and are delivered when it has capacity",
          "[gateway][consumer]") {
    ConsumerSource source;
    std::mt19937 random(3);
    ScriptedConsumer waiting;
    ScriptedConsumer other;
    waiting.delay = 0ms;
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

TEST_CASE("the pump wakes up for each sample only while a consumer cannot wait", "[gateway][consumer]") {
    ConsumerSource source;
    ScriptedConsumer consumer;
    source.pump.feed({&consumer});
    source.pump.start();
    CHECK(source.bench.turn_until([&] { return source.waker.is_low_power(); }));
    consumer.delay = 0ms;
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
