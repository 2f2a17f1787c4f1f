#include "gateway/line/pump_line.hpp"
#include "line/history.hpp"
#include "rest/event_streams.hpp"
#include "support/catch.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace telegate;
using namespace telegate::test;

TEST_CASE("a sample is published in each format and counted once", "[gateway][pump]") {
    PumpLine line({PayloadFormat::json, PayloadFormat::cbor, PayloadFormat::record});
    line.push(line.a, 1);
    const std::string as_json = line.receive(0, 1).at(0).at(1);
    CHECK(nlohmann::json::parse(as_json) == nlohmann::json::from_cbor(line.receive(1, 1).at(0).at(1)));
    CHECK(line.receive(2, 1).at(0) == Frames{"d/a", line.receive(2, 1).at(0).at(1)});
    CHECK(line.receive(2, 1).at(0).at(1).size() == 64);
    const LedgerCounts counts = line.ledger.cut().at(0);
    CHECK(counts.published == 1);
    CHECK(counts.balanced());
}

TEST_CASE("consecutive records of one channel share a message, at most 64 per message", "[gateway][pump]") {
    PumpLine line({PayloadFormat::record});
    line.push(line.a, 3);
    line.push(line.b, 1);
    line.push(line.a, 100);
    const std::vector<Frames>& messages = line.receive(0, 4);
    REQUIRE(messages.size() == 4);
    std::vector<std::pair<std::string, std::size_t>> records;
    for (const Frames& message : messages) {
        records.emplace_back(message.at(0), message.at(1).size() / 64);
    }
    CHECK(records ==
          std::vector<std::pair<std::string, std::size_t>>{{"d/a", 3}, {"d/b", 1}, {"d/a", 64}, {"d/a", 36}});
    unsigned value = 0;
    for (const Frames& message : messages) {
        for (std::size_t at = 0; at < message.at(1).size(); at += 64) {
            CHECK(static_cast<unsigned char>(message.at(1).at(at + 32)) == ++value);
        }
    }
    CHECK(line.ledger.cut().at(0).published == 104);
}

TEST_CASE("samples in many batches arrive in order, each once", "[gateway][pump]") {
    PumpLine line({PayloadFormat::json});
    constexpr std::size_t samples = 2 * Pump::batch_samples * Pump::batches_per_turn + 7;
    for (std::size_t i = 0; i < samples; ++i) {
        line.push(i % 3 == 0 ? line.a : line.b, 1);
    }
    const std::vector<Frames>& messages = line.receive(0, samples);
    REQUIRE(messages.size() == samples);
    for (std::size_t i = 0; i < samples; ++i) {
        const auto parsed = nlohmann::json::parse(messages[i].at(1));
        REQUIRE(parsed.at("value") == i + 1);
        REQUIRE(messages[i].at(0) == (i % 3 == 0 ? "d/a" : "d/b"));
    }
    CHECK(line.pump.last(line.a)->seq == (samples + 2) / 3);
    const PeerStatus peer = line.publishers[0]->subscribers().at(0);
    CHECK(peer.matched == samples);
    CHECK(peer.matched == peer.sent + peer.dropped + peer.pending);
}

TEST_CASE("samples without subscribers are counted and not encoded", "[gateway][pump]") {
    PumpLine line({PayloadFormat::json, PayloadFormat::record});
    line.subscribers[0]->unsubscribe("");
    REQUIRE(line.bench.turn_until([&] { return line.publishers[0]->totals().subscriptions == 0; }));
    line.push(line.a, 5);
    CHECK(line.receive(1, 1).size() == 1);
    CHECK(line.publishers[0]->totals().messages == 5);
    CHECK(line.publishers[0]->totals().matched == 0);
    CHECK(line.ledger.cut().at(0).published == 5);
}

TEST_CASE("the pump is in low-power mode without subscribers, and catches up on request", "[gateway][pump]") {
    PumpLine line({PayloadFormat::json, PayloadFormat::record});
    line.push(line.a, 1);
    CHECK(line.bench.turn_until([&] { return line.ledger.cut().at(0).published == 1; }));
    CHECK_FALSE(line.waker.is_low_power());
    for (std::size_t format = 0; format < line.subscribers.size(); ++format) {
        line.subscribers[format]->unsubscribe("");
        REQUIRE(line.bench.turn_until([&] { return line.publishers[format]->totals().subscriptions == 0; }));
    }
    line.push(line.a, 1);
    CHECK(line.bench.turn_until([&] { return line.waker.is_low_power(); }));
    CHECK(line.ledger.cut().at(0).published == 2);
    line.push(line.a, 5);
    line.pump.catch_up();
    CHECK(line.ledger.cut().at(0).published == 7);
    CHECK_FALSE(line.waker.is_low_power());
}

TEST_CASE("the pump takes a sample within the delay of its consumers, even if nothing follows it", "[gateway][pump]") {
    PumpLine line({PayloadFormat::json});
    line.subscribers[0]->unsubscribe("");
    REQUIRE(line.bench.turn_until([&] { return line.publishers[0]->totals().subscriptions == 0; }));
    line.push(line.a, 1);
    CHECK(line.bench.turn_until([&] { return line.waker.is_low_power(); }));
    line.push_later(line.a);
    CHECK(line.ledger.cut().at(0).published == 1);
    CHECK(line.bench.turn_until([&] { return line.ledger.cut().at(0).published == 2; }));
    CHECK(line.waker.timers() == 1);
}

TEST_CASE("the pump returns to normal mode at its next wake-up after a peer has subscribed", "[gateway][pump]") {
    PumpLine line({PayloadFormat::json});
    line.subscribers[0]->unsubscribe("");
    REQUIRE(line.bench.turn_until([&] { return line.publishers[0]->totals().subscriptions == 0; }));
    line.push(line.a, 1);
    CHECK(line.bench.turn_until([&] { return line.waker.is_low_power(); }));
    line.subscribers[0]->subscribe("");
    REQUIRE(line.bench.turn_until([&] { return line.publishers[0]->totals().subscriptions == 1; }));
    line.push(line.a, 1);
    CHECK(line.receive(0, 1).size() == 1);
    CHECK_FALSE(line.waker.is_low_power());
}

TEST_CASE("the pump keeps all samples in the history, and is in normal mode while a stream is open",
          "[gateway][pump][history]") {
    PumpLine line({PayloadFormat::json});
    line.subscribers[0]->unsubscribe("");
    REQUIRE(line.bench.turn_until([&] { return line.publishers[0]->totals().subscriptions == 0; }));
    History history(1'000 * sizeof(TelemetrySample));
    int told = 0;
    EventStreams streams([] {}, [&] { ++told; });
    line.publish_to({}, {&history, &streams});
    line.push(line.a, 3);
    CHECK(line.bench.turn_until([&] { return history.position() == 3; }));
    CHECK(line.waker.is_low_power());
    CHECK(told == 0);
    auto place = streams.open();
    line.pump.catch_up();
    line.push(line.b, 600);
    CHECK(line.bench.turn_until([&] { return history.position() == 603; }));
    CHECK_FALSE(line.waker.is_low_power());
    CHECK(told > 0);
    place = nullptr;
    line.push(line.b, 1);
    CHECK(line.bench.turn_until([&] { return line.waker.is_low_power(); }));
}

namespace {

/// Counts the samples in gaps, and checks that they cover each channel in order.
struct GapCounter final : SampleConsumer {
    [[nodiscard]] std::string_view name() const noexcept override { return "gaps"; }
    void consume(std::span<const TelemetrySample> samples) override { taken += samples.size(); }
    void gap(const SampleGap& gap) override {
        CHECK(gap.first_seq == reached[gap.channel] + 1);
        reached[gap.channel] = gap.last_seq;
        missing[gap.reason] += gap.samples();
    }
    [[nodiscard]] ConsumerLedger ledger() const override { return {}; }

    std::uint64_t taken = 0;
    std::map<ChannelId, std::uint64_t> reached;
    std::map<DropReason, std::uint64_t> missing;
};

}  // namespace

TEST_CASE("samples that are discarded at the end are gaps with the reason that the ledger has", "[gateway][pump]") {
    PumpLine line({}, 8, GENERATE(OverflowPolicy::drop_oldest, OverflowPolicy::drop_newest));
    GapCounter gaps;
    line.publish_to({}, {&gaps});
    line.push(line.a, 3);
    line.push(line.b, 2);
    line.push(line.a, 6);
    line.push(line.b, 1);
    line.pump.discard_all(DropReason::shutdown);
    const LedgerCounts counts = line.ledger.cut().at(0);
    CHECK(gaps.taken == 0);
    CHECK(gaps.reached == line.seqs);
    CHECK(gaps.missing[DropReason::shutdown] == 8);
    CHECK(gaps.missing[DropReason::shutdown] == counts.dropped[static_cast<std::size_t>(DropReason::shutdown)]);
    CHECK(gaps.missing[DropReason::queue_overflow] ==
          counts.dropped[static_cast<std::size_t>(DropReason::queue_overflow)]);
    CHECK(counts.balanced());
    CHECK(line.ledger.channels_agree(1));
}

TEST_CASE("formats are enabled and disabled between two batches", "[gateway][pump]") {
    PumpLine line({PayloadFormat::json, PayloadFormat::record});
    const std::vector<FormatPublisher> both{{PayloadFormat::json, *line.publishers[0]},
                                            {PayloadFormat::record, *line.publishers[1]}};
    line.publish_to({both[1]});
    line.push(line.a, 1);
    CHECK(line.receive(1, 1).size() == 1);
    CHECK(line.publishers[0]->totals().messages == 0);
    line.publish_to(both);
    line.push(line.a, 1);
    CHECK(nlohmann::json::parse(line.receive(0, 1).at(0).at(1))["seq"] == 2);
    CHECK(line.receive(1, 2).size() == 2);
    CHECK(line.ledger.cut().at(0).published == 2);
}

TEST_CASE("a channel that its device no longer has has no last value", "[gateway][pump]") {
    PumpLine line({PayloadFormat::json});
    line.push(line.a, 1);
    (void)line.receive(0, 1);
    CHECK(line.pump.last(line.a) != nullptr);
    line.channels.set_current(line.a, false);
    CHECK(line.pump.last(line.a) == nullptr);
}

TEST_CASE("the last sample of a channel can be copied on any thread while it changes", "[gateway][pump]") {
    PumpLine line({});
    TelemetrySample copy{};
    CHECK_FALSE(line.pump.copy_last(line.a, copy));
    std::atomic<bool> is_over{false};
    std::uint64_t torn = 0;
    std::thread reader([&] {
        while (!is_over) {
            TelemetrySample last{};
            torn += line.pump.copy_last(line.a, last) && last.seq != static_cast<std::uint64_t>(last.value.integer);
        }
    });
    for (int i = 0; i < 2'000; ++i) {
        line.push(line.a, 1);
        line.pump.drain_all();
    }
    is_over = true;
    reader.join();
    CHECK(torn == 0);
    REQUIRE(line.pump.copy_last(line.a, copy));
    CHECK(copy.seq == 2'000);
    line.channels.set_current(line.a, false);
    CHECK_FALSE(line.pump.copy_last(line.a, copy));
}
