#include "encode/notice.hpp"
#include "encode/record_encoder.hpp"
#include "gateway/line/pump_line.hpp"
#include "publish/heartbeats.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using nlohmann::json;

namespace {

/// Formats a message: "d/a 3" for a sample, "d/a$gap 1-2 queue_overflow" for a gap, "d/a$beat 3" for a heartbeat.
std::string reported(PayloadFormat format, const Frames& message) {
    const std::string& topic = message.at(0);
    if (format == PayloadFormat::record) {
        Record record;
        std::memcpy(&record, message.at(1).data(), sizeof record);
        if (static_cast<int>(record.type) != 16) {
            return topic + ' ' + std::to_string(record.seq);
        }
        std::uint64_t last = 0;
        std::memcpy(&last, record.value.data(), sizeof last);
        return topic + ' ' + std::to_string(record.seq) + '-' + std::to_string(last) +
               (record.value[8] == 1 ? " queue_overflow" : " shutdown");
    }
    const json payload = format == PayloadFormat::json ? json::parse(message.at(1)) : json::from_cbor(message.at(1));
    if (payload.contains("seq")) {
        return topic + ' ' + std::to_string(payload["seq"].get<std::uint64_t>());
    }
    return topic + ' ' + std::to_string(payload["first_seq"].get<std::uint64_t>()) + '-' +
           std::to_string(payload["last_seq"].get<std::uint64_t>()) + ' ' + payload["reason"].get<std::string>();
}

using Told = std::vector<std::string>;

Told reported(PumpLine& line, PayloadFormat format, std::size_t count, std::size_t subscriber = 0) {
    Told result;
    for (const Frames& message : line.receive(subscriber, count)) {
        result.push_back(reported(format, message));
    }
    return result;
}

void subscribe_only(PumpLine& line, const std::string& prefix) {
    line.subscribers[0]->unsubscribe("");
    REQUIRE(line.bench.turn_until([&] { return line.publishers[0]->totals().subscriptions == 0; }));
    line.subscribers[0]->subscribe(prefix);
    REQUIRE(line.bench.turn_until([&] { return line.publishers[0]->totals().subscriptions == 1; }));
}

std::uint64_t gaps(const PumpLine& line, PayloadFormat format) {
    return line.feeds.notices()[static_cast<std::size_t>(format)].gaps;
}

}  // namespace

TEST_CASE("a gap notice is sent right before the first sample after it, in each format", "[gateway][pump][gap]") {
    const PayloadFormat format = GENERATE(from_range(payload_format_names.values));
    PumpLine line({format}, 3, OverflowPolicy::drop_oldest);
    line.pump.pause();
    line.push(line.a, 1);
    line.push(line.b, 1);
    line.push(line.a, 4);
    line.pump.resume();
    // Of a: 1, 2 are lost. Of b: everything is lost and no later sample follows, so its gap is reported at the end.
    if (format == PayloadFormat::record) {
        CHECK(reported(line, format, 3) == Told{"d/a$gap 1-2 queue_overflow", "d/a 3", "d/b$gap 1-1 queue_overflow"});
    } else {
        CHECK(reported(line, format, 5) ==
              Told{"d/a$gap 1-2 queue_overflow", "d/a 3", "d/a 4", "d/a 5", "d/b$gap 1-1 queue_overflow"});
    }
    CHECK(gaps(line, format) == 2);
    const ChannelLedgerCounts counts = line.ledger.counts_of(line.a);
    CHECK(counts.published == 3);
    CHECK(counts.queued == 0);
    CHECK(line.ledger.counts_of(line.b).drops[0].last_seq == 1);
}

TEST_CASE("a loss at the end is reported when the queue is empty, as one range", "[gateway][pump][gap]") {
    PumpLine line({PayloadFormat::json}, 2, OverflowPolicy::drop_newest);
    line.pump.pause();
    line.push(line.a, 7);
    line.pump.resume();
    CHECK(reported(line, PayloadFormat::json, 3) == Told{"d/a 1", "d/a 2", "d/a$gap 3-7 queue_overflow"});
    CHECK(line.pump.reached(line.a) == 7);
    line.push(line.a, 1);
    CHECK(reported(line, PayloadFormat::json, 4).back() == "d/a 8");
    CHECK(gaps(line, PayloadFormat::json) == 1);
    CHECK(line.ledger.counts_of(line.a).published == 3);
    CHECK(line.ledger.channels_agree(1));
}

TEST_CASE("samples dropped at shutdown are reported with their own reason, after those of an overflow",
          "[gateway][pump][gap]") {
    PumpLine line({PayloadFormat::json}, 2, OverflowPolicy::drop_newest);
    line.pump.pause();
    line.push(line.a, 3);
    line.queue.close();
    const std::array late{line.sample(line.a)};
    line.ledger.captured(DeviceId{0}, late);
    line.queue.push(line.queue.first(), late, [&](const TelemetrySample& lost, QueueLoss loss) {
        CHECK(loss == QueueLoss::closed);
        line.ledger.dropped_at_queue(lost, DropReason::shutdown);
    });
    line.pump.resume();
    CHECK(reported(line, PayloadFormat::json, 4) ==
          Told{"d/a 1", "d/a 2", "d/a$gap 3-3 queue_overflow", "d/a$gap 4-4 shutdown"});
}

TEST_CASE("a gap notice is sent to interested subscribers only, and is not encoded if there are none",
          "[gateway][pump][gap]") {
    PumpLine line({PayloadFormat::json, PayloadFormat::record}, 1, OverflowPolicy::drop_oldest);
    subscribe_only(line, "d/b");
    line.pump.pause();
    line.push(line.a, 2);
    line.pump.resume();
    CHECK(reported(line, PayloadFormat::record, 2, 1) == Told{"d/a$gap 1-1 queue_overflow", "d/a 2"});
    CHECK(gaps(line, PayloadFormat::json) == 0);
    CHECK(line.publishers[0]->totals().matched == 0);
    CHECK(gaps(line, PayloadFormat::record) == 1);
}

TEST_CASE("a subscriber of the exact gap topic receives only the gaps", "[gateway][pump][gap]") {
    PumpLine line({PayloadFormat::json}, 1, OverflowPolicy::drop_oldest);
    subscribe_only(line, "d/a$gap");
    line.pump.pause();
    line.push(line.a, 3);
    line.pump.resume();
    CHECK(reported(line, PayloadFormat::json, 1) == Told{"d/a$gap 1-2 queue_overflow"});
    CHECK(line.publishers[0]->totals().matched == 1);
}

TEST_CASE("samples that were never taken from the queue are reported and stay queued in the ledger",
          "[gateway][pump][gap]") {
    PumpLine line({PayloadFormat::json});
    line.pump.pause();
    line.push(line.a, 3);
    std::array<TelemetrySample, 2> stolen;
    CHECK(line.queue.pop(stolen) == 2);
    line.pump.resume();
    CHECK(reported(line, PayloadFormat::json, 2) == Told{"d/a$gap 1-2 queue_overflow", "d/a 3"});
    CHECK(line.ledger.counts_of(line.a).queued == 2);
}

TEST_CASE("an idle channel sends heartbeats with the last number published or reported", "[gateway][pump][beat]") {
    PumpLine line({PayloadFormat::json}, 2, OverflowPolicy::drop_newest);
    Heartbeats beats(line.bench.reactor, line.channels, line.pump, line.feeds);
    line.pump.pause();
    line.push(line.a, 3);
    line.pump.resume();
    (void)line.receive(0, 3);
    beats.set_interval(std::chrono::milliseconds(10));
    const Told all = reported(line, PayloadFormat::json, 7);
    CHECK(std::count(all.begin(), all.end(), "d/a$beat 3") >= 2);
    CHECK(std::count(all.begin(), all.end(), "d/b$beat 0") >= 2);
    CHECK(line.feeds.notices()[0].heartbeats >= 4);
}

TEST_CASE("no heartbeat is sent for a channel that is removed or not wanted, nor when heartbeats are off",
          "[gateway][pump][beat]") {
    PumpLine line({PayloadFormat::json});
    Heartbeats beats(line.bench.reactor, line.channels, line.pump, line.feeds);
    subscribe_only(line, "d/a");
    beats.set_interval(std::chrono::milliseconds(10));
    CHECK(reported(line, PayloadFormat::json, 2) == Told{"d/a$beat 0", "d/a$beat 0"});
    line.channels.set_current(line.a, false);
    line.channels.set_current(line.b, true);
    const std::uint64_t before = line.feeds.notices()[0].heartbeats;
    line.subscribers[0]->subscribe("d/b");
    CHECK(line.bench.turn_until([&] { return line.feeds.notices()[0].heartbeats >= before + 2; }));
    beats.set_interval(std::chrono::milliseconds(0));
    const std::uint64_t end = line.feeds.notices()[0].heartbeats;
    line.push(line.b, 1);
    const std::vector<Frames>& messages = line.receive(0, static_cast<std::size_t>(end) + 1);
    CHECK(reported(PayloadFormat::json, messages.back()) == "d/b 1");
    CHECK(line.feeds.notices()[0].heartbeats == end);
    CHECK(messages.size() == end + 1);
}

TEST_CASE("no heartbeat is sent while a blocking subscriber is behind, which would lose samples for it",
          "[gateway][pump][beat]") {
    PumpLine line({PayloadFormat::json});
    line.publishers[0]->set_delivery(line.endpoints[0], {SlowPolicy::block, 64 * 1024, std::chrono::milliseconds(0)});
    std::size_t pushed = 0;
    for (; pushed < 200'000 && !line.pump.must_wait(); pushed += 500) {
        line.push(line.a, 500);
        line.bench.reactor.poll();
    }
    REQUIRE(line.pump.must_wait());
    Heartbeats beats(line.bench.reactor, line.channels, line.pump, line.feeds);
    beats.set_interval(std::chrono::milliseconds(10));
    PumpLine other({PayloadFormat::json});
    Heartbeats clock(other.bench.reactor, other.channels, other.pump, other.feeds);
    clock.set_interval(std::chrono::milliseconds(10));
    CHECK(other.bench.turn_until([&] {
        line.bench.reactor.poll();
        return other.feeds.notices()[0].heartbeats >= 20;
    }));
    CHECK(line.feeds.notices()[0].heartbeats == 0);
    CHECK(reported(line, PayloadFormat::json, pushed + 2).at(pushed - 1) == "d/a " + std::to_string(pushed));
    CHECK(line.publishers[0]->totals().dropped == 0);
}

TEST_CASE("each of many channels sends heartbeats", "[gateway][pump][beat]") {
    PumpLine line({PayloadFormat::record});
    constexpr std::size_t channels = 1'000;
    for (std::size_t i = line.channels.size(); i < channels; ++i) {
        REQUIRE(line.channels.add(DeviceId{0}, "d", "c" + std::to_string(i), ""));
    }
    Heartbeats beats(line.bench.reactor, line.channels, line.pump, line.feeds);
    beats.set_interval(std::chrono::milliseconds(10));
    std::set<std::string> topics;
    CHECK(line.bench.turn_until([&] {
        line.inboxes[0].receive();
        for (const Frames& message : line.inboxes[0].messages) {
            topics.insert(message.at(0));
        }
        return topics.size() == channels;
    }));
    CHECK(topics.count("d/c999$beat") == 1);
}
