#include "services/history_replay.hpp"
#include "base/topic_order.hpp"
#include "core/waker.hpp"
#include "services/hole_replay.hpp"
#include "support/catch.hpp"
#include "support/rounds.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace telegate;
using nlohmann::json;

namespace {

/// A data path without sampler and sockets: pushed samples are published, in the history, and can be replayed.
struct ReplayBench {
    explicit ReplayBench(std::size_t capacity, std::size_t per_channel = 0)
        : history(capacity * sizeof(TelemetrySample), Duration(0), nullptr, per_channel) {
        pump.feed({&history});
        for (const char* name : {"a", "b", "c"}) {
            ids.push_back(*channels.add(DeviceId{0}, "d", name, ""));
        }
    }
    void publish(std::size_t channel, std::uint64_t seq) {
        TelemetrySample sample{};
        sample.channel = ids[channel];
        sample.seq = seq;
        ledger.captured(DeviceId{0}, {&sample, 1});
        queue.push(queue.first(), {&sample, 1}, [](auto&&...) { FAIL("the queue is full"); });
        pump.drain_all();
    }
    void lose(std::size_t channel, std::uint64_t seq) {
        TelemetrySample sample{};
        sample.channel = ids[channel];
        sample.seq = seq;
        ledger.captured(DeviceId{0}, {&sample, 1});
        ledger.dropped_at_queue(sample, DropReason::queue_overflow);
        pump.drain_all();
    }
    [[nodiscard]] ReplayParts parts() { return {{history, text}, pump, {}, {}}; }
    [[nodiscard]] static json answer_of(HistoryReplay& replay) {
        while (replay.step() != HistoryReplay::Step::done) {
        }
        return json::parse(replay.take_answer());
    }
    json positions(std::uint64_t position, std::size_t limit = 10'000, const std::string& prefix = "") {
        PositionReplay replay(parts(), "{\"x\":0", {prefix, {text.epoch_ms(), position}, limit});
        return answer_of(replay);
    }
    json holes(const std::vector<ServiceHole>& holes, std::uint64_t hint = 0, std::size_t limit = 10'000) {
        HoleReplay replay(parts(), "{\"x\":0", {holes, hint, limit}, topics);
        return answer_of(replay);
    }

    ChannelTable channels;
    std::vector<ChannelId> ids;
    Ledger ledger{1, channels};
    Reactor reactor;
    QueueWaker waker;
    BoundedQueue<TelemetrySample> queue{1'024, OverflowPolicy::drop_oldest};
    History history;
    SampleText text{channels, 5};
    Pump pump{{reactor, queue, waker, channels, ledger}};
    TopicOrder topics{channels};
};

std::vector<std::uint64_t> seqs(const json& samples) {
    std::vector<std::uint64_t> result;
    for (const json& sample : samples) {
        result.push_back(sample["seq"]);
    }
    return result;
}

}  // namespace

TEST_CASE("a replay begins with the oldest retained sample and reports what it missed", "[gateway][services]") {
    ReplayBench b(8);
    for (std::uint64_t seq = 1; seq <= 20; ++seq) {
        b.publish(0, seq);
    }
    const json answer = b.positions(5);
    CHECK(seqs(answer["samples"]).front() == 13);
    CHECK(answer["missed"] == 7);
    CHECK(answer["position"] == 20);
    CHECK(answer["end"] == true);
    CHECK(b.positions(20)["samples"].empty());
}

TEST_CASE("a replay of a prefix continues after its limit", "[gateway][services]") {
    ReplayBench b(64);
    for (std::uint64_t seq = 1; seq <= 10; ++seq) {
        b.publish(seq % 2, seq);
    }
    const json first = b.positions(0, 2, "d/b");
    CHECK(seqs(first["samples"]) == std::vector<std::uint64_t>{1, 3});
    CHECK(first["end"] == false);
    CHECK(seqs(b.positions(first["position"], 10, "d/b")["samples"]) == std::vector<std::uint64_t>{5, 7, 9});
}

TEST_CASE("a reply checks a limited number of samples, and may then be empty", "[gateway][services]") {
    ReplayBench b(300'000);
    std::vector<TelemetrySample> many(PositionReplay::scanned_max + 10);
    b.history.consume(many);
    const json answer = b.positions(0, 10, "d/b");
    CHECK(answer["samples"].empty());
    CHECK(answer["end"] == false);
    CHECK(answer["position"] >= PositionReplay::scanned_max);
}

TEST_CASE("a sample that was never published is dropped, an overwritten one is not retained", "[gateway][services]") {
    ReplayBench b(4);
    for (const std::uint64_t seq : {1U, 2U, 3U, 6U, 7U, 9U}) {
        b.publish(0, seq);
    }
    const json answer = b.holes({{"d/a", 1, ServiceHole::open_end}});
    CHECK(seqs(answer["samples"]) == std::vector<std::uint64_t>{3, 6, 7, 9});
    CHECK(answer["gone"] == json::parse(R"([{"topic":"d/a","first_seq":1,"last_seq":2,"reason":"not_retained"},
        {"topic":"d/a","first_seq":4,"last_seq":5,"reason":"dropped"},
        {"topic":"d/a","first_seq":8,"last_seq":8,"reason":"dropped"}])"));
    CHECK(answer["end"] == true);
}

TEST_CASE("a complete history shows that missing samples were dropped", "[gateway][services]") {
    ReplayBench b(64);
    b.publish(0, 4);
    const json answer = b.holes({{"d/a", 1, 3}});
    CHECK(answer["gone"] == json::parse(R"([{"topic":"d/a","first_seq":1,"last_seq":3,"reason":"dropped"}])"));
}

TEST_CASE("samples lost by the queue after the last sample of a channel, or before any, are dropped",
          "[gateway][services]") {
    ReplayBench b(4);
    for (std::uint64_t seq = 1; seq <= 8; ++seq) {
        b.publish(0, seq);
    }
    for (const std::uint64_t seq : {9U, 10U}) {
        b.lose(0, seq);
        b.lose(1, seq - 8);
    }
    CHECK(b.holes({{"d/a", 9, 9}})["gone"] ==
          json::parse(R"([{"topic":"d/a","first_seq":9,"last_seq":9,"reason":"dropped"}])"));
    const json answer = b.holes({{"d/a", 4, 20}, {"d/b", 1, ServiceHole::open_end}});
    CHECK(seqs(answer["samples"]) == std::vector<std::uint64_t>{5, 6, 7, 8});
    CHECK(answer["gone"] == json::parse(R"([{"topic":"d/a","first_seq":4,"last_seq":4,"reason":"not_retained"},
        {"topic":"d/a","first_seq":9,"last_seq":10,"reason":"dropped"},
        {"topic":"d/b","first_seq":1,"last_seq":2,"reason":"dropped"}])"));
    CHECK(b.holes({{"d/a", 8, 20}}, 0, 1)["left"] == json::parse(R"([{"topic":"d/a","first_seq":9,"last_seq":20}])"));
    CHECK(b.holes({{"d/a", 11, ServiceHole::open_end}})["gone"].empty());
}

TEST_CASE("a channel whose samples are all overwritten is reported as not retained up to its last",
          "[gateway][services]") {
    ReplayBench b(4);
    b.publish(0, 1);
    b.publish(0, 2);
    for (std::uint64_t seq = 1; seq <= 8; ++seq) {
        b.publish(1, seq);
    }
    const json answer = b.holes({{"d/a", 2, 9}, {"d/c", 1, 9}});
    CHECK(answer["gone"] == json::parse(R"([{"topic":"d/a","first_seq":2,"last_seq":2,"reason":"not_retained"}])"));
    CHECK(answer["end"] == true);
}

TEST_CASE("replays contain the retained samples of a quiet channel, and count the missing ones between them",
          "[gateway][services]") {
    ReplayBench b(64, 4);  // 48 of all channels together
    for (std::uint64_t seq = 1; seq <= 5; ++seq) {
        b.publish(0, seq);
        b.publish(1, seq);
    }
    for (std::uint64_t seq = 6; seq <= 200; ++seq) {
        b.publish(1, seq);
    }
    const json answer = b.positions(0, 10'000, "d/a");
    CHECK(seqs(answer["samples"]) == std::vector<std::uint64_t>{2, 3, 4, 5});
    CHECK(answer["end"] == true);
    CHECK(answer["missed"] == 205 - 48 - 4);
    CHECK(seqs(b.positions(0, 2, "d/a")["samples"]) == std::vector<std::uint64_t>{2, 3});
    const json holes = b.holes({{"d/a", 1, ServiceHole::open_end}}, b.history.oldest());
    CHECK(seqs(holes["samples"]) == std::vector<std::uint64_t>{2, 3, 4, 5});
    CHECK(holes["gone"] == json::parse(R"([{"topic":"d/a","first_seq":1,"last_seq":1,"reason":"not_retained"}])"));
}

namespace {

/// The result for each sequence number of the holes, according to the replies of all pages: "" if the sample was
/// returned.
using Fates = std::map<std::pair<std::string, std::uint64_t>, std::string>;

Fates fates_of(ReplayBench& b, std::vector<ServiceHole> holes, std::uint64_t hint, std::size_t limit) {
    Fates fates;
    while (!holes.empty()) {
        const json answer = b.holes(holes, hint, limit);
        for (const json& sample : answer["samples"]) {
            const std::string topic = "d/" + sample["channel"].get<std::string>();
            CHECK(fates.emplace(std::pair(topic, sample["seq"]), "").second);
        }
        for (const json& gone : answer["gone"]) {
            for (std::uint64_t seq = gone["first_seq"]; seq <= gone["last_seq"]; ++seq) {
                CHECK(fates.emplace(std::pair(gone["topic"], seq), gone["reason"]).second);
            }
        }
        holes.clear();
        for (const json& left : answer["left"]) {
            holes.push_back({left["topic"], left["first_seq"], left.value("last_seq", ServiceHole::open_end)});
        }
        hint = hint == 0 ? 0 : answer["position"].get<std::uint64_t>();
    }
    return fates;
}

bool is_held_at(const History& history, std::uint64_t position) {
    std::array<TelemetrySample, 1> out{};
    const History::Read read = history.read(position, out);
    return read.missed == 0 && read.count == 1;
}

}  // namespace

TEST_CASE("for any request, each published sample has one result, and no hint changes it", "[gateway][services]") {
    const unsigned seed = GENERATE(range(0U, test::rounds(40U)));
    CAPTURE(seed);
    std::mt19937 random(seed);
    const auto any = [&](std::size_t from, std::size_t to) {
        return std::uniform_int_distribution<std::size_t>(from, to)(random);
    };
    ReplayBench b(any(0, 1) == 0 ? 64 : 1'024, any(0, 1) * any(1, 20));
    const std::uint64_t quiet = any(0, 3);                                     // 3: none
    std::map<std::pair<std::size_t, std::uint64_t>, std::uint64_t> positions;  // of the published samples
    std::array<std::uint64_t, 3> last{};
    for (std::uint64_t position = 0; position < 300; ++position) {
        std::size_t channel = any(0, 2);
        channel = channel == quiet && any(0, 9) > 0 ? (channel + 1) % 3 : channel;
        last[channel] += any(0, 5) == 0 ? any(2, 9) : 1;
        b.publish(channel, last[channel]);
        positions[{channel, last[channel]}] = position;
    }
    std::vector<ServiceHole> holes;
    std::set<std::pair<std::string, std::uint64_t>> wanted;
    for (std::uint64_t i = any(1, 12); i > 0; --i) {
        const std::size_t channel = any(0, 2);
        const std::uint64_t first = any(1, 150);
        const std::uint64_t end = any(0, 4) == 0 ? ServiceHole::open_end : first + any(0, 30);
        const std::string topic = b.channels.at(b.ids[channel]).topic;
        holes.push_back({topic, first, end});
        for (std::uint64_t seq = first; seq <= std::min(end, last[channel]); ++seq) {
            wanted.emplace(topic, seq);
        }
    }
    const Fates fates = fates_of(b, holes, 0, 10'000);
    CHECK(fates.size() == wanted.size());
    for (const auto& [key, fate] : fates) {
        const std::size_t channel = static_cast<std::size_t>(key.first.back() - 'a');
        const auto published = positions.find({channel, key.second});
        const bool is_held = published != positions.end() && is_held_at(b.history, published->second);
        CHECK(wanted.contains(key));
        CHECK(fate.empty() == is_held);
        CHECK((fate != "dropped" || published == positions.end()));
    }
    CHECK(fates_of(b, holes, any(1, 300), 10'000) == fates);
    CHECK(fates_of(b, holes, any(1, 300), any(1, 7)) == fates);
    CHECK(fates_of(b, holes, 0, any(1, 7)) == fates);
}
