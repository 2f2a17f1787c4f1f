#include "publish/shard_queue.hpp"

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

constexpr std::size_t queue_segment_bytes = 1'024;
constexpr std::size_t queue_backlog_bytes = 16 * 1'024;

/// The byte at a position of the log, so that a reused segment is detected.
std::byte byte_at(std::uint64_t position) {
    return static_cast<std::byte>((position ^ (position >> 8U)) & 0xFFU);
}
bool is_intact(const LinkRecord& record) {
    bool is_intact = true;
    for (std::uint32_t at = record.begin; at < record.end; ++at) {
        is_intact = is_intact && record.lease->bytes[at] == byte_at(record.lease->start + at);
    }
    return is_intact;
}

/// A log with a queue, whose other end is operated by the test.
struct ShardQueueBench {
    ShardQueueBench()
        : link(std::make_unique<ShardLink>()),
          log(pool),
          queue(*link, pool, queue_backlog_bytes,
                {[this] { catch_up(); },
                 [this](const ShardReader& reader, const LostRun& run) {
                     lost_bytes[reader] += run.bytes;
                     for (auto each = run.samples.rbegin(); each != run.samples.rend(); ++each) {
                         lost[reader].push_back(each->first_seq);
                     }
                 }}) {}

    /// Adds one message of `bytes` for these readers.
    void publish(const ShardReadersRef& share, std::size_t bytes = 100) {
        std::byte* const room = log.prepare(bytes);
        for (std::size_t at = 0; at < bytes; ++at) {
            room[at] = byte_at(log.position() + at);
        }
        if (segments != log.segments_opened()) {
            segments = log.segments_opened();
            queue.enforce(log.end(), log.position());
        }
        const Slice slice = log.commit(bytes);
        queue.begin(share.readers());
        queue.outbox().add(slice);
    }
    /// Adds one message with the next number as its sample.
    void publish_sample(const ShardReadersRef& share) {
        std::memset(log.prepare(100, sizeof(LoggedSamples)), 0, 100);
        if (segments != log.segments_opened()) {
            segments = log.segments_opened();
            queue.enforce(log.end(), log.position());
        }
        const Slice slice = log.commit(100, SampleRange{ChannelId{0}, next, next});
        ++next;
        queue.begin(share.readers());
        queue.outbox().add(slice);
    }
    /// Applies up to `count` records without notes, and returns the leases of earlier segments.
    std::vector<LinkRecord> apply(std::size_t count = SIZE_MAX) {
        std::vector<LinkRecord> records;
        while (records.size() < count && link->front() != nullptr) {
            const LinkRecord record = *link->front();
            link->pop();
            if (lease != nullptr && record.lease != lease) {
                link->release(lease);
            }
            lease = record.lease;
            if (record.note != nullptr) {
                receive(*std::unique_ptr<LinkNote>(record.note));
            } else {
                records.push_back(record);
            }
        }
        woken = link->report(ReadProgress::nothing_waits, link->taken() + limits::backlog_runs_max);
        return records;
    }
    void receive(const LinkNote& note) {
        if (const auto* const message = std::get_if<ShardMessage>(&note)) {
            messages.push_back(message->topic + ' ' + message->payload);
            return;
        }
        for (const auto& [reader, count] : std::get<ShardLosses>(note)) {
            losses[reader] += count;
        }
    }
    [[nodiscard]] ShardReadersRef share(std::uint64_t id) { return queue.ref_to({{0, id}}); }

    SegmentPool pool{queue_segment_bytes};
    std::unique_ptr<ShardLink> link;
    SegmentLog log;
    ShardQueue queue;
    SegmentLease* lease = nullptr;
    std::uint64_t segments = 0;
    bool woken = false;
    std::uint64_t next = 1;                                  // of publish_sample()
    ShardLosses losses;                                      // reported to the shard
    std::map<ShardReader, std::vector<std::uint64_t>> lost;  // numbers reported to the publisher
    std::map<ShardReader, std::size_t> lost_bytes;
    std::vector<std::string> messages;  // for single sessions
    std::function<void()> catch_up = [] {
    };  // by default, the shard cannot take anything
};

}  // namespace

TEST_CASE("adjacent messages for the same readers become one record", "[core][publisher][shards]") {
    ShardQueueBench b;
    const ShardReadersRef one = b.share(1);
    const ShardReadersRef other = b.share(2);
    for (int number = 0; number < 3; ++number) {
        b.publish(one);
    }
    b.publish(other);
    b.publish(one);
    b.queue.flush();
    const std::vector<LinkRecord> records = b.apply();
    REQUIRE(records.size() == 3);
    CHECK(records[0].messages == 3);
    CHECK(records[0].end - records[0].begin == 300);
    CHECK(records[0].readers->list[0].id == 1);
    CHECK(records[1].begin == records[0].end);
    CHECK(records[1].readers->list[0].id == 2);
    CHECK(records[2].messages == 1);
}

TEST_CASE("equal lists of readers are shared, and unused ones are removed", "[core][publisher][shards]") {
    ShardQueueBench b;
    CHECK(&b.share(1).readers() == &b.share(1).readers());
    const ShardReadersRef kept = b.share(1);
    for (std::uint64_t id = 2; id < 1'000; ++id) {
        const ShardReadersRef share = b.share(id);
        b.publish(share, 10);
        if (id % 10 == 0) {
            b.queue.flush();
            for (const LinkRecord& record : b.apply()) {
                CHECK((record.readers == nullptr || record.readers->list.size() == 1));
            }
        }
    }
    CHECK(b.queue.lists() < 200);
    CHECK(&b.share(1).readers() == &kept.readers());
}

TEST_CASE("a lent segment is not reused until its lease is released", "[core][publisher][shards]") {
    ShardQueueBench b;
    const ShardReadersRef share = b.share(1);
    for (int number = 0; number < 40; ++number) {
        b.publish(share);
    }
    b.queue.flush();
    const std::size_t lent = b.pool.memory_bytes();
    CHECK(lent >= 4'000);
    const std::vector<LinkRecord> records = b.apply();
    for (const LinkRecord& record : records) {
        if (record.lease == b.lease) {  // the only one that was not returned yet
            CHECK(is_intact(record));
        }
    }
    b.queue.flush();
    for (int number = 0; number < 400; ++number) {  // in segments that were returned
        b.publish(share);
        b.queue.flush();
        b.apply();
    }
    CHECK(b.pool.memory_bytes() <= lent + 2 * queue_segment_bytes);
}

TEST_CASE("a shard without new data learns the log's end, and releases its last segment", "[core][publisher][shards]") {
    ShardQueueBench b;
    const ShardReadersRef share = b.share(1);
    b.publish(share);
    b.queue.flush();
    b.apply();
    REQUIRE(b.lease != nullptr);
    for (int number = 0; number < 30; ++number) {  // for other readers
        std::memset(b.log.prepare(100), 0, 100);
        (void)b.log.commit(100);
    }
    b.queue.enforce(b.log.end(), b.log.position());
    b.queue.flush();
    const std::vector<LinkRecord> records = b.apply();
    REQUIRE(records.size() == 1);
    CHECK(records[0].lease == nullptr);
    CHECK(records[0].log_end == b.log.end());
    CHECK(b.lease == nullptr);
    b.queue.flush();
    CHECK(b.apply().empty());
}

TEST_CASE("records that a shard cannot take wait until it can", "[core][publisher][shards]") {
    ShardQueueBench b;
    const ShardReadersRef one = b.share(1);
    const ShardReadersRef other = b.share(2);
    const std::size_t count = limits::link_records_max + 100;
    for (std::size_t number = 0; number < count; ++number) {
        b.publish(number % 2 == 0 ? one : other, 8);
    }
    b.queue.flush();
    CHECK_FALSE(b.queue.empty());
    CHECK(b.apply(0).empty());
    CHECK(b.apply().size() == limits::link_records_max);
    CHECK(b.woken);
    b.queue.flush();
    CHECK(b.queue.empty());
    CHECK(b.apply().size() == 100);
    CHECK_FALSE(b.woken);
    CHECK(b.losses.empty());
}

TEST_CASE("a shard that takes nothing is given a bounded part of the log, and the rest is lost and counted",
          "[core][publisher][shards]") {
    ShardQueueBench b;
    const ShardReadersRef both = b.queue.ref_to({{0, 1}, {1, 2}});
    for (int number = 0; number < 10'000; ++number) {
        b.publish(both);
        if (number % 50 == 0) {
            b.queue.flush();
        }
    }
    CHECK(b.pool.memory_bytes() <= 3 * queue_backlog_bytes + 40 * queue_segment_bytes);
    b.queue.flush();
    std::uint64_t told = 0;
    for (std::vector<LinkRecord> records = b.apply(); !records.empty(); records = b.apply()) {
        for (const LinkRecord& record : records) {
            told += record.messages;
        }
        b.queue.flush();
    }
    REQUIRE(b.losses.size() == 2);
    CHECK(b.losses.at({0, 1}) == b.losses.at({1, 2}));
    CHECK(b.losses.at({0, 1}) + told == 10'000);
    CHECK(told >= 150);
}

TEST_CASE("every message that a queue drops is reported with its samples, once for each session that loses it",
          "[core][publisher][shards]") {
    ShardQueueBench b;
    const ShardReadersRef both = b.queue.ref_to({{0, 1}, {1, 2}});
    const ShardReadersRef one = b.share(1);
    std::vector<std::uint64_t> of_one;
    std::vector<std::uint64_t> of_both;
    while (b.losses[{1, 2}] < 100) {
        of_one.push_back(b.next);
        of_both.push_back(b.next);
        b.publish_sample(both);
        of_one.push_back(b.next);
        b.publish_sample(one);
        of_one.push_back(b.next);
        b.queue.send_to({0, 1}, "t", std::string(500, 'x'), SampleRange{ChannelId{1}, b.next, b.next});
        ++b.next;
        b.queue.send_to({0, 1}, "t", "without samples", std::nullopt);
        b.queue.drop_all();
        b.queue.flush();
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
    ShardQueueBench b;
    CHECK(b.queue.progress().oldest == ReadProgress::nothing_waits);
    const ShardReadersRef share = b.share(1);
    b.publish(share);  // in the outbox
    CHECK(b.queue.progress().oldest == 0);
    CHECK(b.queue.progress().runs_left == limits::backlog_runs_max - 1);
    b.queue.flush();  // in the link
    CHECK(b.queue.progress().oldest == 0);
    b.link->pop();
    CHECK_FALSE(b.link->report(0, limits::backlog_runs_max));  // with a session
    CHECK(b.queue.progress().oldest == 0);
    b.publish(share);
    b.queue.await_room(100);
    CHECK_FALSE(b.link->report(50, limits::backlog_runs_max));
    CHECK_FALSE(b.link->report(100, 1));
    CHECK(b.link->report(100, limits::backlog_runs_max));
    CHECK_FALSE(b.link->report(100, limits::backlog_runs_max));
    CHECK(b.queue.progress().oldest == 100);
}

TEST_CASE("a range in the segment that the shard knows already is pending from its beginning",
          "[core][publisher][shards]") {
    ShardQueueBench b;
    const ShardReadersRef share = b.share(1);
    b.publish(share);
    b.queue.flush();
    b.apply();
    for (int number = 0; number < 30; ++number) {  // for other readers
        (void)b.log.prepare(100);
        (void)b.log.commit(100);
    }
    b.queue.enforce(b.log.end(), b.log.position());
    b.queue.flush();  // the end of a segment that is not full yet
    b.segments = b.log.segments_opened();
    const std::uint64_t position = b.log.position();
    b.publish(share, 8);
    b.queue.flush();
    REQUIRE(position < b.log.end());
    CHECK(b.queue.progress().oldest <= position);
    CHECK(b.apply().size() == 2);
    CHECK(b.queue.progress().oldest == ReadProgress::nothing_waits);
}

TEST_CASE("a message for one session and losses reach the shard in order with the log", "[core][publisher][shards]") {
    ShardQueueBench b;
    const ShardReadersRef share = b.share(1);
    b.publish(share);
    b.queue.send_to({0, 7}, "topic", "payload", std::nullopt);
    b.publish(share);
    b.queue.flush();
    CHECK(b.apply(1).size() == 1);
    CHECK(b.messages.empty());
    CHECK(b.apply(1).size() == 1);
    CHECK(b.messages == std::vector<std::string>{"topic payload"});

    b.publish(share);
    b.queue.drop_all();
    CHECK_FALSE(b.queue.empty());
    b.publish(share);
    b.queue.flush();
    CHECK(b.queue.empty());
    CHECK(b.losses.empty());
    CHECK(b.apply(1).size() == 1);
    CHECK(b.losses == ShardLosses{{{0, 1}, 1}});
}

TEST_CASE("the publisher waits for a shard that is a whole backlog behind, and nothing is lost",
          "[core][publisher][shards]") {
    ShardQueueBench b;
    std::uint64_t taken = 0;
    std::size_t waits = 0;
    const auto take_all = [&] {
        for (const LinkRecord& record : b.apply()) {
            taken += record.messages;
        }
    };
    b.catch_up = [&] {
        ++waits;
        take_all();
    };
    const ShardReadersRef one = b.share(1);
    const ShardReadersRef other = b.share(2);
    for (int number = 0; number < 20'000; ++number) {
        b.publish(number % 2 == 0 ? one : other, number < 10'000 ? 100 : 1);  // too many bytes, then too many ranges
    }
    CHECK(waits > 10);
    CHECK(b.pool.memory_bytes() <= 3 * queue_backlog_bytes + 40 * queue_segment_bytes);
    for (b.queue.flush(); !b.queue.empty(); b.queue.flush()) {
        take_all();
    }
    take_all();
    CHECK(taken == 20'000);
    CHECK(b.losses.empty());
}

TEST_CASE("messages for single sessions reach an idle shard at once, however far the log has advanced",
          "[core][publisher][shards]") {
    ShardQueueBench b;
    for (int number = 0; number < 1'000; ++number) {  // for other readers
        std::memset(b.log.prepare(100), 0, 100);
        (void)b.log.commit(100);
    }
    b.queue.enforce(b.log.end(), b.log.end() - queue_segment_bytes);
    for (int number = 0; number < 100; ++number) {
        b.queue.send_to({0, 1}, "t", "x", std::nullopt);
    }
    b.queue.flush();
    CHECK(b.queue.empty());
    CHECK(b.queue.progress().oldest == b.log.end() - queue_segment_bytes);
    b.apply();
    CHECK(b.messages.size() == 100);
}

TEST_CASE("messages for single sessions use bounded memory, and the oldest are lost if the shard cannot take them",
          "[core][publisher][shards]") {
    ShardQueueBench b;
    const std::string payload(1'000, 'x');
    constexpr std::size_t count = 100;
    for (std::size_t number = 0; number < count; ++number) {
        b.queue.send_to({0, 1}, "t", payload, std::nullopt);
    }
    for (b.queue.flush(); !b.queue.empty(); b.queue.flush()) {
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
    ShardQueueBench b;
    const ShardReadersRef share = b.share(1);
    const std::uint64_t records_max = limits::backlog_runs_max;
    CHECK_FALSE(b.queue.must_wait(1'000'000));  // no subscriber blocks
    CHECK_FALSE(b.link->report(0, records_max, {5'000, 4'000}));
    CHECK_FALSE(b.queue.must_wait(5'000));
    CHECK(b.queue.must_wait(5'001));
    CHECK(b.link->is_block_limit_awaited());
    CHECK_FALSE(b.link->report(0, records_max, {5'000, 4'000}));
    CHECK(b.link->report(0, records_max, {5'001, 4'000}));
    CHECK_FALSE(b.link->is_block_limit_awaited());

    CHECK_FALSE(b.link->report(ReadProgress::nothing_waits, records_max, {UINT64_MAX, 4'000}));
    CHECK_FALSE(b.queue.must_wait(4'001));
    b.publish(share);  // at position 0; it may be for the blocking subscriber
    CHECK_FALSE(b.queue.must_wait(4'000));
    CHECK(b.queue.must_wait(4'001));
    b.queue.flush();
    CHECK(b.queue.must_wait(4'001));
    b.link->pop();
    CHECK(b.link->report(ReadProgress::nothing_waits, records_max, {UINT64_MAX, 4'000}));
    CHECK_FALSE(b.queue.must_wait(4'001));
}

TEST_CASE("the two ends of a queue agree on separate threads", "[core][publisher][shards]") {
    ShardQueueBench b;
    const ShardReadersRef one = b.share(1);
    const ShardReadersRef other = b.share(2);
    constexpr int count = 60'000;
    std::map<std::uint64_t, std::uint64_t> told;
    bool all_intact = true;
    std::atomic<bool> is_over{false};
    std::thread shard([&] {
        std::vector<LinkRecord> kept;  // as slow sessions do
        LinkRecord last;
        std::mt19937 random(1);
        while (!is_over.load() || b.link->front() != nullptr) {
            while (const LinkRecord* const front = b.link->front()) {
                const LinkRecord record = *front;
                b.link->pop();
                if (record.note != nullptr) {
                    b.receive(*std::unique_ptr<LinkNote>(record.note));
                } else if (record.lease != nullptr) {
                    told[record.readers->list[0].id] += record.messages;
                    all_intact = all_intact && is_intact(record);
                }
                if (b.lease != nullptr && record.lease != b.lease) {
                    kept.push_back(last);
                }
                b.lease = record.lease;
                last = record;
                while (kept.size() > 5) {
                    const std::size_t at = random() % kept.size();
                    all_intact = all_intact && is_intact(kept[at]);
                    b.link->release(kept[at].lease);
                    kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(at));
                }
            }
            (void)b.link->report(ReadProgress::nothing_waits, b.link->taken() + limits::backlog_runs_max);
        }
    });
    std::mt19937 random(2);
    for (int number = 0; number < count; ++number) {
        b.publish(random() % 3 == 0 ? one : other, 1 + random() % 100);
        if (random() % 8 == 0) {
            b.queue.flush();
        }
    }
    do {
        b.queue.flush();
    } while (!b.queue.empty());
    is_over.store(true);
    shard.join();
    for (const auto& [reader, messages] : b.losses) {
        told[reader.id] += messages;
    }
    CHECK(all_intact);
    CHECK(told[1] + told[2] == count);
}
