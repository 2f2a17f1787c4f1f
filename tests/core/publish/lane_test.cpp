#include "publish/lane.hpp"

#include "core/limits.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

using namespace telegate;

namespace {

constexpr std::size_t lane_segment_bytes = 1'024;
constexpr std::size_t lane_backlog_bytes = 16 * 1'024;

/// The byte at a position of the log, so that a reused segment is detected.
std::byte byte_at(std::uint64_t position) {
    return static_cast<std::byte>((position ^ (position >> 8U)) & 0xFFU);
}
bool is_intact(const LaneRecord& record) {
    bool is_intact = true;
    for (std::uint32_t at = record.begin; at < record.end; ++at) {
        is_intact = is_intact && record.loan->bytes[at] == byte_at(record.loan->start + at);
    }
    return is_intact;
}

/// A log with a lane, whose other end is operated by the test.
struct LaneBench {
    LaneBench()
        : link(std::make_unique<LaneLink>()),
          log(pool),
          lane(*link, pool, lane_backlog_bytes,
               {[this] { catch_up(); },
                [this](const LaneReader& reader, const LostRun& run) {
                    lost_bytes[reader] += run.bytes;
                    for (auto each = run.samples.rbegin(); each != run.samples.rend(); ++each) {
                        lost[reader].push_back(each->first_seq);
                    }
                }}) {}

    /// Adds one message of `bytes` for these readers.
    void give(const LaneShare& share, std::size_t bytes = 100) {
        std::byte* const room = log.prepare(bytes);
        for (std::size_t at = 0; at < bytes; ++at) {
            room[at] = byte_at(log.position() + at);
        }
        if (segments != log.segments_opened()) {
            segments = log.segments_opened();
            lane.enforce(log.end(), log.position());
        }
        const Slice slice = log.commit(bytes);
        lane.begin(share.readers());
        lane.outbox().add(slice);
    }
    /// Adds one message with the next number as its sample.
    void give_sample(const LaneShare& share) {
        std::memset(log.prepare(100, sizeof(LoggedSamples)), 0, 100);
        if (segments != log.segments_opened()) {
            segments = log.segments_opened();
            lane.enforce(log.end(), log.position());
        }
        const Slice slice = log.commit(100, SampleRange{ChannelId{0}, next, next});
        ++next;
        lane.begin(share.readers());
        lane.outbox().add(slice);
    }
    /// Applies up to `count` records without notes, and returns the loans of earlier segments.
    std::vector<LaneRecord> apply(std::size_t count = SIZE_MAX) {
        std::vector<LaneRecord> records;
        while (records.size() < count && link->front() != nullptr) {
            const LaneRecord record = *link->front();
            link->take();
            if (loan != nullptr && record.loan != loan) {
                link->give_back(loan);
            }
            loan = record.loan;
            if (record.note != nullptr) {
                take(*std::unique_ptr<LaneNote>(record.note));
            } else {
                records.push_back(record);
            }
        }
        woken = link->report(LaneProgress::nothing_waits, link->taken() + limits::backlog_runs_max);
        return records;
    }
    void take(const LaneNote& note) {
        if (const auto* const message = std::get_if<LaneMessage>(&note)) {
            messages.push_back(message->topic + ' ' + message->payload);
            return;
        }
        for (const auto& [reader, count] : std::get<LaneLosses>(note)) {
            losses[reader] += count;
        }
    }
    [[nodiscard]] LaneShare share(std::uint64_t id) { return lane.share_of({{0, id}}); }

    SegmentPool pool{lane_segment_bytes};
    std::unique_ptr<LaneLink> link;
    SegmentLog log;
    Lane lane;
    Loan* loan = nullptr;
    std::uint64_t segments = 0;
    bool woken = false;
    std::uint64_t next = 1;                                 // of give_sample()
    LaneLosses losses;                                      // reported to the shard
    std::map<LaneReader, std::vector<std::uint64_t>> lost;  // numbers reported to the publisher
    std::map<LaneReader, std::size_t> lost_bytes;
    std::vector<std::string> messages;  // for single sessions
    std::function<void()> catch_up = [] {
    };  // by default, the shard cannot take anything
};

}  // namespace

TEST_CASE("adjacent messages for the same readers become one record", "[core][publisher][shards]") {
    LaneBench b;
    const LaneShare one = b.share(1);
    const LaneShare other = b.share(2);
    for (int number = 0; number < 3; ++number) {
        b.give(one);
    }
    b.give(other);
    b.give(one);
    b.lane.flush();
    const std::vector<LaneRecord> records = b.apply();
    REQUIRE(records.size() == 3);
    CHECK(records[0].messages == 3);
    CHECK(records[0].end - records[0].begin == 300);
    CHECK(records[0].readers->list[0].id == 1);
    CHECK(records[1].begin == records[0].end);
    CHECK(records[1].readers->list[0].id == 2);
    CHECK(records[2].messages == 1);
}

TEST_CASE("equal lists of readers are shared, and unused ones are removed", "[core][publisher][shards]") {
    LaneBench b;
    CHECK(&b.share(1).readers() == &b.share(1).readers());
    const LaneShare kept = b.share(1);
    for (std::uint64_t id = 2; id < 1'000; ++id) {
        const LaneShare share = b.share(id);
        b.give(share, 10);
        if (id % 10 == 0) {
            b.lane.flush();
            for (const LaneRecord& record : b.apply()) {
                CHECK((record.readers == nullptr || record.readers->list.size() == 1));
            }
        }
    }
    CHECK(b.lane.lists() < 200);
    CHECK(&b.share(1).readers() == &kept.readers());
}

TEST_CASE("a lent segment is not reused until it is given back", "[core][publisher][shards]") {
    LaneBench b;
    const LaneShare share = b.share(1);
    for (int number = 0; number < 40; ++number) {
        b.give(share);
    }
    b.lane.flush();
    const std::size_t lent = b.pool.memory_bytes();
    CHECK(lent >= 4'000);
    const std::vector<LaneRecord> records = b.apply();
    for (const LaneRecord& record : records) {
        if (record.loan == b.loan) {  // the only one that was not returned yet
            CHECK(is_intact(record));
        }
    }
    b.lane.flush();
    for (int number = 0; number < 400; ++number) {  // in segments that were returned
        b.give(share);
        b.lane.flush();
        b.apply();
    }
    CHECK(b.pool.memory_bytes() <= lent + 2 * lane_segment_bytes);
}

TEST_CASE("a shard without new data learns the log's end, and releases its last segment", "[core][publisher][shards]") {
    LaneBench b;
    const LaneShare share = b.share(1);
    b.give(share);
    b.lane.flush();
    b.apply();
    REQUIRE(b.loan != nullptr);
    for (int number = 0; number < 30; ++number) {  // for other readers
        std::memset(b.log.prepare(100), 0, 100);
        (void)b.log.commit(100);
    }
    b.lane.enforce(b.log.end(), b.log.position());
    b.lane.flush();
    const std::vector<LaneRecord> records = b.apply();
    REQUIRE(records.size() == 1);
    CHECK(records[0].loan == nullptr);
    CHECK(records[0].log_end == b.log.end());
    CHECK(b.loan == nullptr);
    b.lane.flush();
    CHECK(b.apply().empty());
}

TEST_CASE("records that a shard cannot take wait until it can", "[core][publisher][shards]") {
    LaneBench b;
    const LaneShare one = b.share(1);
    const LaneShare other = b.share(2);
    const std::size_t count = limits::lane_records_max + 100;
    for (std::size_t number = 0; number < count; ++number) {
        b.give(number % 2 == 0 ? one : other, 8);
    }
    b.lane.flush();
    CHECK_FALSE(b.lane.empty());
    CHECK(b.apply(0).empty());
    CHECK(b.apply().size() == limits::lane_records_max);
    CHECK(b.woken);
    b.lane.flush();
    CHECK(b.lane.empty());
    CHECK(b.apply().size() == 100);
    CHECK_FALSE(b.woken);
    CHECK(b.losses.empty());
}

TEST_CASE("a shard that takes nothing is given a bounded part of the log, and the rest is lost and counted",
          "[core][publisher][shards]") {
    LaneBench b;
    const LaneShare both = b.lane.share_of({{0, 1}, {1, 2}});
    for (int number = 0; number < 10'000; ++number) {
        b.give(both);
        if (number % 50 == 0) {
            b.lane.flush();
        }
    }
    CHECK(b.pool.memory_bytes() <= 3 * lane_backlog_bytes + 40 * lane_segment_bytes);
    b.lane.flush();
    std::uint64_t told = 0;
    for (std::vector<LaneRecord> records = b.apply(); !records.empty(); records = b.apply()) {
        for (const LaneRecord& record : records) {
            told += record.messages;
        }
        b.lane.flush();
    }
    REQUIRE(b.losses.size() == 2);
    CHECK(b.losses.at({0, 1}) == b.losses.at({1, 2}));
    CHECK(b.losses.at({0, 1}) + told == 10'000);
    CHECK(told >= 150);
}

TEST_CASE("every message that a lane drops is reported with its samples, once for each session that loses it",
          "[core][publisher][shards]") {
    LaneBench b;
    const LaneShare both = b.lane.share_of({{0, 1}, {1, 2}});
    const LaneShare one = b.share(1);
    std::vector<std::uint64_t> of_one;
    std::vector<std::uint64_t> of_both;
    while (b.losses[{1, 2}] < 100) {
        of_one.push_back(b.next);
        of_both.push_back(b.next);
        b.give_sample(both);
        of_one.push_back(b.next);
        b.give_sample(one);
        of_one.push_back(b.next);
        b.lane.send_to({0, 1}, "t", std::string(500, 'x'), SampleRange{ChannelId{1}, b.next, b.next});
        ++b.next;
        b.lane.send_to({0, 1}, "t", "without samples", std::nullopt);
        b.lane.drop_all();
        b.lane.flush();
        b.apply();
    }
    CHECK(b.lost[{0, 1}] == of_one);
    CHECK(b.lost[{1, 2}] == of_both);
    CHECK(b.losses[{1, 2}] == of_both.size());
    CHECK(b.losses[{0, 1}] == of_one.size() + of_both.size());  // with one message without samples in each round
    CHECK(b.lost_bytes[{1, 2}] == 100 * of_both.size());
    CHECK(b.lost_bytes[{0, 1}] == (200 + 501 + 16) * of_both.size());
}

TEST_CASE("progress is a lower bound of the pending data, wherever it is", "[core][publisher][shards]") {
    LaneBench b;
    CHECK(b.lane.progress().oldest == LaneProgress::nothing_waits);
    const LaneShare share = b.share(1);
    b.give(share);  // in the outbox
    CHECK(b.lane.progress().oldest == 0);
    CHECK(b.lane.progress().runs_left == limits::backlog_runs_max - 1);
    b.lane.flush();  // in the link
    CHECK(b.lane.progress().oldest == 0);
    b.link->take();
    CHECK_FALSE(b.link->report(0, limits::backlog_runs_max));  // with a session
    CHECK(b.lane.progress().oldest == 0);
    b.give(share);
    b.lane.await_room(100);
    CHECK_FALSE(b.link->report(50, limits::backlog_runs_max));
    CHECK_FALSE(b.link->report(100, 1));
    CHECK(b.link->report(100, limits::backlog_runs_max));
    CHECK_FALSE(b.link->report(100, limits::backlog_runs_max));
    CHECK(b.lane.progress().oldest == 100);
}

TEST_CASE("a range in the segment that the shard knows already is pending from its beginning",
          "[core][publisher][shards]") {
    LaneBench b;
    const LaneShare share = b.share(1);
    b.give(share);
    b.lane.flush();
    b.apply();
    for (int number = 0; number < 30; ++number) {  // for other readers
        (void)b.log.prepare(100);
        (void)b.log.commit(100);
    }
    b.lane.enforce(b.log.end(), b.log.position());
    b.lane.flush();  // the end of a segment that is not full yet
    b.segments = b.log.segments_opened();
    const std::uint64_t position = b.log.position();
    b.give(share, 8);
    b.lane.flush();
    REQUIRE(position < b.log.end());
    CHECK(b.lane.progress().oldest <= position);
    CHECK(b.apply().size() == 2);
    CHECK(b.lane.progress().oldest == LaneProgress::nothing_waits);
}

TEST_CASE("a message for one session and losses reach the shard in order with the log", "[core][publisher][shards]") {
    LaneBench b;
    const LaneShare share = b.share(1);
    b.give(share);
    b.lane.send_to({0, 7}, "topic", "payload", std::nullopt);
    b.give(share);
    b.lane.flush();
    CHECK(b.apply(1).size() == 1);
    CHECK(b.messages.empty());
    CHECK(b.apply(1).size() == 1);
    CHECK(b.messages == std::vector<std::string>{"topic payload"});

    b.give(share);
    b.lane.drop_all();
    CHECK_FALSE(b.lane.empty());
    b.give(share);
    b.lane.flush();
    CHECK(b.lane.empty());
    CHECK(b.losses.empty());
    CHECK(b.apply(1).size() == 1);
    CHECK(b.losses == LaneLosses{{{0, 1}, 1}});
}

TEST_CASE("the publisher waits for a shard that is a whole backlog behind, and nothing is lost",
          "[core][publisher][shards]") {
    LaneBench b;
    std::uint64_t taken = 0;
    std::size_t waits = 0;
    const auto take_all = [&] {
        for (const LaneRecord& record : b.apply()) {
            taken += record.messages;
        }
    };
    b.catch_up = [&] {
        ++waits;
        take_all();
    };
    const LaneShare one = b.share(1);
    const LaneShare other = b.share(2);
    for (int number = 0; number < 20'000; ++number) {
        b.give(number % 2 == 0 ? one : other, number < 10'000 ? 100 : 1);  // too many bytes, then too many ranges
    }
    CHECK(waits > 10);
    CHECK(b.pool.memory_bytes() <= 3 * lane_backlog_bytes + 40 * lane_segment_bytes);
    for (b.lane.flush(); !b.lane.empty(); b.lane.flush()) {
        take_all();
    }
    take_all();
    CHECK(taken == 20'000);
    CHECK(b.losses.empty());
}

TEST_CASE("messages for single sessions reach an idle shard at once, however far the log has advanced",
          "[core][publisher][shards]") {
    LaneBench b;
    for (int number = 0; number < 1'000; ++number) {  // for other readers
        std::memset(b.log.prepare(100), 0, 100);
        (void)b.log.commit(100);
    }
    b.lane.enforce(b.log.end(), b.log.end() - lane_segment_bytes);
    for (int number = 0; number < 100; ++number) {
        b.lane.send_to({0, 1}, "t", "x", std::nullopt);
    }
    b.lane.flush();
    CHECK(b.lane.empty());
    CHECK(b.lane.progress().oldest == b.log.end() - lane_segment_bytes);
    b.apply();
    CHECK(b.messages.size() == 100);
}

TEST_CASE("messages for single sessions use bounded memory, and the oldest are lost if the shard cannot take them",
          "[core][publisher][shards]") {
    LaneBench b;
    const std::string payload(1'000, 'x');
    constexpr std::size_t count = 100;
    for (std::size_t number = 0; number < count; ++number) {
        b.lane.send_to({0, 1}, "t", payload, std::nullopt);
    }
    for (b.lane.flush(); !b.lane.empty(); b.lane.flush()) {
        b.apply();
    }
    b.apply();
    CHECK(b.messages.size() >= 30);
    CHECK(b.messages.size() <= 34);
    REQUIRE(b.losses.size() == 1);
    CHECK(b.losses.at({0, 1}) + b.messages.size() == count);
}

TEST_CASE(
    "publishing waits while a blocking subscriber of the shard, or what the shard has not applied, is too far behind",
    "[core][publisher][shards]") {
    LaneBench b;
    const LaneShare share = b.share(1);
    const std::uint64_t records_max = limits::backlog_runs_max;
    CHECK_FALSE(b.lane.must_wait(1'000'000));  // no subscriber blocks
    CHECK_FALSE(b.link->report(0, records_max, {5'000, 4'000}));
    CHECK_FALSE(b.lane.must_wait(5'000));
    CHECK(b.lane.must_wait(5'001));
    CHECK(b.link->is_block_limit_awaited());
    CHECK_FALSE(b.link->report(0, records_max, {5'000, 4'000}));
    CHECK(b.link->report(0, records_max, {5'001, 4'000}));
    CHECK_FALSE(b.link->is_block_limit_awaited());

    CHECK_FALSE(b.link->report(LaneProgress::nothing_waits, records_max, {UINT64_MAX, 4'000}));
    CHECK_FALSE(b.lane.must_wait(4'001));
    b.give(share);  // at position 0; it may be for the blocking subscriber
    CHECK_FALSE(b.lane.must_wait(4'000));
    CHECK(b.lane.must_wait(4'001));
    b.lane.flush();
    CHECK(b.lane.must_wait(4'001));
    b.link->take();
    CHECK(b.link->report(LaneProgress::nothing_waits, records_max, {UINT64_MAX, 4'000}));
    CHECK_FALSE(b.lane.must_wait(4'001));
}

TEST_CASE("the two ends of a lane agree on separate threads", "[core][publisher][shards]") {
    LaneBench b;
    const LaneShare one = b.share(1);
    const LaneShare other = b.share(2);
    constexpr int count = 60'000;
    std::map<std::uint64_t, std::uint64_t> told;
    bool all_intact = true;
    std::atomic<bool> is_over{false};
    std::thread shard([&] {
        std::vector<LaneRecord> kept;  // as slow sessions do
        LaneRecord last;
        std::mt19937 random(1);
        while (!is_over.load() || b.link->front() != nullptr) {
            while (const LaneRecord* const front = b.link->front()) {
                const LaneRecord record = *front;
                b.link->take();
                if (record.note != nullptr) {
                    b.take(*std::unique_ptr<LaneNote>(record.note));
                } else if (record.loan != nullptr) {
                    told[record.readers->list[0].id] += record.messages;
                    all_intact = all_intact && is_intact(record);
                }
                if (b.loan != nullptr && record.loan != b.loan) {
                    kept.push_back(last);
                }
                b.loan = record.loan;
                last = record;
                while (kept.size() > 5) {
                    const std::size_t at = random() % kept.size();
                    all_intact = all_intact && is_intact(kept[at]);
                    b.link->give_back(kept[at].loan);
                    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(at));
                }
            }
            (void)b.link->report(LaneProgress::nothing_waits, b.link->taken() + limits::backlog_runs_max);
        }
    });
    std::mt19937 random(2);
    for (int number = 0; number < count; ++number) {
        b.give(random() % 3 == 0 ? one : other, 1 + random() % 100);
        if (random() % 8 == 0) {
            b.lane.flush();
        }
    }
    do {
        b.lane.flush();
    } while (!b.lane.empty());
    is_over.store(true);
    shard.join();
    for (const auto& [reader, messages] : b.losses) {
        told[reader.id] += messages;
    }
    CHECK(all_intact);
    CHECK(told[1] + told[2] == count);
}
