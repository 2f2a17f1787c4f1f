#include "publish/slow_gaps.hpp"

#include "support/catch.hpp"
#include "support/manual_clock.hpp"
#include "support/rounds.hpp"

#include <array>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

LoggedSamples logged(const SampleRange& samples) {
    return {samples.first_seq, samples.last_seq, samples.channel, 0};
}

/// Simulated losses of subscribers.
struct SimulatedLosses {
    void lose(std::uint64_t id, const SampleRange& samples, LossReason reason = LossReason::slow) {
        const std::array run{logged(samples)};
        hooks.lost(id, {run, 100, std::nullopt}, reason);
    }
    void lose(std::uint64_t id, std::uint64_t seq, LossReason reason = LossReason::slow) {
        lose(id, {ChannelId{0}, seq, seq}, reason);
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

TEST_CASE("adjacent losses become one range", "[gateway][slow]") {
    SimulatedLosses g;
    g.lose(1, 5);
    g.lose(1, 6);
    g.lose(1, {ChannelId{0}, 7, 9});
    g.hooks.lost(1, {{}, 100, std::nullopt}, LossReason::slow);  // messages without samples
    CHECK(g.gaps.ranges() == 1);
    g.lose(1, 10, LossReason::expired);
    g.lose(1, {ChannelId{1}, 5, 5});
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
    losses.hooks.refused(3, {ChannelId{1}, 7, 7});
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

TEST_CASE("a run that many subscribers lose is read once, and each subscriber has all of its samples",
          "[gateway][slow]") {
    RunReader runs;
    std::vector<LoggedSamples> newest_first;
    for (std::uint64_t seq = 1; seq <= 20; ++seq) {
        newest_first.insert(newest_first.begin(), logged({ChannelId{0}, seq, seq}));
        newest_first.insert(newest_first.begin(), logged({ChannelId{1}, 100 + 2 * seq, 100 + 2 * seq}));
    }
    for (int subscriber = 0; subscriber < 100; ++subscriber) {
        const RunDigest& digest = runs.read(PayloadFormat::json, {newest_first, 5'000, 7});
        CHECK(digest.parts.size() == 21);
        CHECK(digest.parts[0].last_seq == 20);
        CHECK(digest.first.seq == 1);
        CHECK(digest.last.seq == 140);
    }
    newest_first.back().first_seq = 9;
    CHECK(runs.read(PayloadFormat::json, {newest_first, 5'000, 7}).first.seq == 1);  // without reading it
    CHECK(runs.read(PayloadFormat::json, {newest_first, 5'000, 8}).first.seq == 9);
}

TEST_CASE("the number of cached digests is limited, and reading a run again gives the same result", "[gateway][slow]") {
    RunReader runs;
    std::size_t read_anew = 0;
    for (const std::uint64_t first : {10'001U, 10'002U}) {  // different runs the second time, to see which one is read
        std::vector<LoggedSamples> newest_first;
        for (std::uint64_t seq = first + 5'998; seq >= first; seq -= 2) {
            newest_first.push_back(logged({ChannelId{0}, seq, seq}));
        }
        for (std::uint64_t position = 0; position < 300; ++position) {
            const RunDigest& digest = runs.read(PayloadFormat::json, {newest_first, 5'000, position});
            CHECK(digest.parts.size() == 3'000);
            CHECK(digest.last.seq == digest.first.seq + 5'998);
            CHECK(runs.parts_kept() <= RunReader::parts_kept_max);
            read_anew += digest.first.seq == first ? 1U : 0U;
        }
    }
    CHECK(read_anew > 300);
}

TEST_CASE("runs are read correctly in any order of channels", "[gateway][slow]") {
    const auto seed = GENERATE(range(0U, rounds(60U)));
    CAPTURE(seed);
    std::mt19937 random(seed);
    RunReader runs;
    std::vector<std::uint64_t> next(40, 1);
    for (int round = 0; round < 10; ++round) {
        std::vector<LoggedSamples> newest_first;
        std::map<std::uint32_t, std::set<std::uint64_t>> lost;
        for (unsigned i = 0; i < 200; ++i) {
            const auto index = static_cast<std::uint32_t>(random() % 3 == 0 ? random() % 40 : i % 40);
            const std::uint64_t first = next[index] += random() % 9 == 0 ? random() % 1'000'000 : 0;
            next[index] += 1 + (random() % 20 == 0 ? random() % 3 : 0);
            newest_first.insert(newest_first.begin(), logged({static_cast<ChannelId>(index), first, next[index] - 1}));
            for (std::uint64_t seq = first; seq < next[index]; ++seq) {
                lost[index].insert(seq);
            }
        }
        std::map<std::uint32_t, std::set<std::uint64_t>> read;
        for (const SampleRange& part : runs.read(PayloadFormat::json, {newest_first, 5'000, std::nullopt}).parts) {
            for (std::uint64_t seq = part.first_seq; seq <= part.last_seq; ++seq) {
                CHECK(read[to_index(part.channel)].insert(seq).second);
            }
        }
        CHECK(read == lost);
    }
}
