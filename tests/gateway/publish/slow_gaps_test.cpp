#include "publish/slow_gaps.hpp"

#include "core/publisher.hpp"
#include "encode/notice_encoder.hpp"
#include "gateway/encode/encoder_harness.hpp"
#include "support/catch.hpp"
#include "support/manual_clock.hpp"
#include "support/publisher_harness.hpp"
#include "support/rounds.hpp"

#include <map>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

TelemetrySample sample_of(ChannelId channel, std::uint64_t seq) {
    TelemetrySample sample{};
    sample.channel = channel;
    sample.seq = seq;
    sample.type = ValueType::real;
    sample.value.real = 1.5;
    return sample;
}

/// Smaller than 64 KiB.
void append_frame(std::string& wire, bool more, std::string_view body) {
    if (body.size() < 256) {
        wire += {static_cast<char>(more ? 1 : 0), static_cast<char>(body.size())};
    } else {
        wire.append({static_cast<char>(more ? 3 : 2), 0, 0, 0, 0, 0, 0});
        wire += {static_cast<char>(body.size() / 256), static_cast<char>(body.size() % 256)};
    }
    wire += body;
}

std::string message_of(std::string_view topic, std::string_view payload) {
    std::string wire;
    append_frame(wire, true, topic);
    append_frame(wire, false, payload);
    return wire;
}

/// Simulated losses of subscribers.
struct SimulatedLosses {
    std::string message(std::uint64_t seq, ChannelId channel = ChannelId{0}) const {
        return message_of(channels.at(channel).topic, encoded<JsonEncoder>(channels, sample_of(channel, seq)));
    }
    void lose(std::uint64_t id, std::uint64_t seq, LossReason reason = LossReason::slow,
              ChannelId channel = ChannelId{0}) {
        lose_wire(id, message(seq, channel), reason);
    }
    void lose_wire(std::uint64_t id, const std::string& wire, LossReason reason = LossReason::slow) {
        hooks.lost(id, {as_bytes(wire), std::nullopt}, reason);
    }
    LostSample first_slow(std::uint64_t id) const {
        SubscriberStatus status;
        status.id = id;
        gaps.show(status);
        return status.lost[0].first;
    }

    ChannelTable channels;
    ManualClock clock;
    std::vector<std::uint64_t> closed;
    SlowGaps gaps{{channels, clock, 5,
                   [this](PayloadFormat, std::uint64_t id) {
                       closed.push_back(id);
                   }},
                  40};
    LossHooks hooks = gaps.hooks(PayloadFormat::json);
    bool is_made = channels.add(DeviceId{0}, "a", "x", "") && channels.add(DeviceId{0}, "a", "y", "");
};

}  // namespace

TEST_CASE("the sequence number is read from payloads of every format, whatever the channel name", "[gateway][slow]") {
    const auto format = GENERATE(from_range(payload_format_names.values));
    const auto seq = GENERATE(1U, 23U, 24U, 255U, 70'000U);
    ChannelTable channels;
    const auto channel = channels.add(DeviceId{0}, "cseq", "first_seq.cseq", "");
    REQUIRE(channel);
    const auto range = read_seqs(format, encoded(format, channels, sample_of(*channel, seq)));
    REQUIRE(range);
    CHECK(range->first == seq);
    CHECK(range->last == seq);
}

TEST_CASE("notices of every format are read as they were written", "[gateway][slow]") {
    const auto format = GENERATE(from_range(payload_format_names.values));
    ChannelTable channels;
    const auto channel = channels.add(DeviceId{0}, "cseq", "first_seq.cseq", "");
    std::string payload;
    NoticeEncoder(format, {channels, 5}).append(GapNotice{*channel, 43, 70'000, "queue_overflow", 1}, payload);
    const auto gap = read_notice(format, NoticeKind::gap, payload);
    REQUIRE(gap);
    CHECK(gap->epoch_ms == 5);
    CHECK(gap->seqs.first == 43);
    CHECK(gap->seqs.last == 70'000);
    CHECK(gap->reason == "queue_overflow");
    CHECK_FALSE(read_notice(format, NoticeKind::beat, payload));
    payload.clear();
    NoticeEncoder(format, {channels, 5}).append(BeatNotice{*channel, 99, 1}, payload);
    const auto beat = read_notice(format, NoticeKind::beat, payload);
    REQUIRE(beat);
    CHECK(beat->epoch_ms == 5);
    CHECK(beat->seqs.last == 99);
    CHECK_FALSE(read_notice(format, NoticeKind::gap, payload));
}

TEST_CASE("all samples of a payload with several records are read", "[gateway][slow]") {
    ChannelTable channels;
    const auto channel = channels.add(DeviceId{0}, "a", "x", "");
    const std::string payload = encoded<RecordEncoder>(channels, sample_of(*channel, 7)) +
                                encoded<RecordEncoder>(channels, sample_of(*channel, 8));
    CHECK(read_seqs(PayloadFormat::record, payload)->last == 8);
}

TEST_CASE("an unknown payload has no sequence number", "[gateway][slow]") {
    const auto format = GENERATE(from_range(payload_format_names.values));
    const std::string text = GENERATE(std::string(), std::string("\xA8\x63"), std::string("{\"seq\":x"));
    CHECK_FALSE(read_seqs(format, text));
    CHECK_FALSE(read_notice(format, NoticeKind::gap, text));
}

TEST_CASE("adjacent losses become one range, and a lost gap notice becomes its range", "[gateway][slow]") {
    SimulatedLosses g;
    g.lose(1, 5);
    g.lose(1, 6);
    std::string notice;
    NoticeEncoder(PayloadFormat::json, {g.channels, 5})
        .append(GapNotice{ChannelId{0}, 7, 9, "queue_overflow", 1}, notice);
    g.lose_wire(1, message_of("a/x$gap", notice));
    g.lose_wire(1, message_of("a/x$beat", "{\"seq\":99}"));
    CHECK(g.gaps.ranges() == 1);
    g.lose(1, 10, LossReason::expired);
    g.lose(1, 5, LossReason::slow, ChannelId{1});
    CHECK(g.gaps.ranges() == 3);
    SubscriberStatus status;
    status.id = 1;
    g.gaps.show(status);
    CHECK(status.lost[0].first.topic == "a/x");
    CHECK(status.lost[0].first.seq == 5);
    CHECK(status.lost[0].second.topic == "a/y");
    CHECK(status.lost[1].first.seq == 10);
    CHECK(status.lost[2].first.seq == 0);
    g.gaps.forget(PayloadFormat::json, 1);
    CHECK(g.gaps.ranges() == 0);
}

TEST_CASE("a last value that another thread refused is shown as lost, and no notice reports it", "[gateway][slow]") {
    SimulatedLosses losses;
    const std::string payload = encoded<JsonEncoder>(losses.channels, sample_of(ChannelId{1}, 7));
    losses.hooks.refused(3, {"a/y", payload});
    losses.hooks.refused(3, {"unknown", payload});
    CHECK(losses.first_slow(3).topic == "a/y");
    CHECK(losses.first_slow(3).seq == 7);
    CHECK(losses.gaps.ranges() == 0);
}

TEST_CASE("the subscriber with the most gaps is closed, once, whichever subscriber exceeds the limit",
          "[gateway][slow]") {
    SimulatedLosses g;
    g.lose(1, 1);  // 16 entries, including its neighboring channels
    for (std::uint64_t seq = 1; seq < 16; seq += 2) {
        g.lose(2, seq);  // 16 and 7
    }
    CHECK(g.closed.empty());
    g.lose(3, 1);
    g.lose(2, 99);
    CHECK(g.closed == std::vector<std::uint64_t>{2});
    CHECK(g.gaps.closed() == 1);
    CHECK(g.gaps.ranges() == 2);
    CHECK(g.first_slow(3).seq == 1);
    g.gaps.forget(PayloadFormat::json, 2);
    g.gaps.forget(PayloadFormat::json, 3);
    g.gaps.forget(PayloadFormat::json, 1);
    CHECK(g.gaps.ranges() == 0);
}

TEST_CASE("a run that many subscribers lose is parsed once, and each subscriber has all of its samples",
          "[gateway][slow]") {
    SimulatedLosses g;
    RunReader runs(g.channels);
    std::string wire;
    for (std::uint64_t seq = 1; seq <= 20; ++seq) {
        wire += g.message(seq) + g.message(100 + 2 * seq, ChannelId{1});
    }
    for (int subscriber = 0; subscriber < 100; ++subscriber) {
        const RunDigest& digest = runs.read(PayloadFormat::json, {as_bytes(wire), 7});
        CHECK(digest.parts.size() == 21);
        CHECK(digest.parts[0].seqs.last == 20);
        CHECK(digest.first.seq == 1);
        CHECK(digest.last.seq == 140);
    }
    wire.replace(0, g.message(1).size(), g.message(9));
    CHECK(runs.read(PayloadFormat::json, {as_bytes(wire), 7}).first.seq == 1);  // without parsing it
    CHECK(runs.read(PayloadFormat::json, {as_bytes(wire), 8}).first.seq == 9);
}

TEST_CASE("the number of cached digests is limited, and reading a run again gives the same result", "[gateway][slow]") {
    SimulatedLosses g;
    RunReader runs(g.channels);
    std::size_t read_anew = 0;
    for (const std::uint64_t first : {10'001U, 10'002U}) {  // different runs the second time, to see which one is read
        std::string wire;
        for (std::uint64_t seq = first; seq < first + 6'000; seq += 2) {
            wire += g.message(seq);
        }
        for (std::uint64_t position = 0; position < 300; ++position) {
            const RunDigest& digest = runs.read(PayloadFormat::json, {as_bytes(wire), position});
            CHECK(digest.parts.size() == 3'000);
            CHECK(digest.last.seq == digest.first.seq + 5'998);
            CHECK(runs.parts_kept() <= RunReader::parts_kept_max);
            read_anew += digest.first.seq == first ? 1U : 0U;
        }
    }
    CHECK(read_anew > 300);
}

TEST_CASE("runs are read correctly in any order of channels, with notices between them", "[gateway][slow]") {
    const auto format = GENERATE(from_range(payload_format_names.values));
    const auto seed = GENERATE(range(0U, rounds(20U)));
    CAPTURE(seed);
    std::mt19937 random(seed);
    ChannelTable channels;
    for (int i = 0; i < 40; ++i) {
        channels.add(DeviceId{0}, "d" + std::to_string(i / 7), "cseq" + std::to_string(i), "");
    }
    RunReader runs(channels);
    std::vector<std::uint64_t> next(40, 1);
    for (int round = 0; round < 10; ++round) {
        std::string wire;
        std::map<std::uint32_t, std::set<std::uint64_t>> lost;
        for (unsigned i = 0; i < 200; ++i) {
            const auto index = static_cast<std::uint32_t>(random() % 3 == 0 ? random() % 40 : i % 40);
            const auto channel = static_cast<ChannelId>(index);
            const std::string& topic = channels.at(channel).topic;
            const std::uint64_t seq = next[index] += random() % 9 == 0 ? random() % 1'000'000 : 0;
            if (random() % 20 == 0) {
                std::string notice;
                NoticeEncoder(format, {channels, 5}).append(GapNotice{channel, seq, seq + 1, "shutdown", 1}, notice);
                wire += message_of(topic + "$gap", notice);
                lost[index].insert(seq + 1);
                next[index] += 2;
            } else {
                wire += message_of(topic, encoded(format, channels, sample_of(channel, seq)));
                next[index] += 1;
            }
            lost[index].insert(seq);
        }
        std::map<std::uint32_t, std::set<std::uint64_t>> read;
        for (const MissingSamples& part : runs.read(format, {as_bytes(wire), std::nullopt}).parts) {
            for (std::uint64_t seq = part.seqs.first; seq <= part.seqs.last; ++seq) {
                CHECK(read[to_index(part.channel)].insert(seq).second);
            }
        }
        CHECK(read == lost);
    }
}
