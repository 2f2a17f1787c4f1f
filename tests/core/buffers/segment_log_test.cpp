#include "buffers/segment_log.hpp"

#include "support/catch.hpp"

#include <algorithm>
#include <cstring>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace telegate;

namespace {

constexpr std::size_t segment_bytes = 64;

Slice append(SegmentLog& log, std::string_view text) {
    std::byte* room = log.prepare(text.size());
    std::memcpy(room, text.data(), text.size());
    return log.commit(text.size());
}

Slice append(SegmentLog& log, std::string_view text, const SampleRange& samples) {
    std::memcpy(log.prepare(text.size(), sizeof(LoggedSamples)), text.data(), text.size());
    return log.commit(text.size(), samples);
}

std::string text_of(const Slice& slice) {
    return {reinterpret_cast<const char*>(slice.segment->bytes.get()) + slice.begin, slice.end - slice.begin};
}

}  // namespace

TEST_CASE("a log without messages holds no memory", "[core][session][log]") {
    SegmentPool pool(segment_bytes);
    const SegmentLog log(pool);
    CHECK(pool.memory_bytes() == 0);
    CHECK(log.end() == 0);
}

TEST_CASE("messages are contiguous in a segment", "[core][session][log]") {
    SegmentPool pool(segment_bytes);
    SegmentLog log(pool);
    const Slice first = append(log, "one");
    const Slice second = append(log, "three");
    CHECK(first.segment == second.segment);
    CHECK(first.end == second.begin);
    CHECK(text_of(first) == "one");
    CHECK(text_of(second) == "three");
    CHECK(log.segments_opened() == 1);
}

TEST_CASE("bytes that a commit leaves unused belong to the next message", "[core][session][log]") {
    SegmentPool pool(segment_bytes);
    SegmentLog log(pool);
    const std::byte* room = log.prepare(50);
    CHECK(log.commit(10).end == 10);
    CHECK(log.prepare(50) == room + 10);
    CHECK(log.segments_opened() == 1);
}

TEST_CASE("a message that does not fit into the rest of the segment opens a segment", "[core][session][log]") {
    SegmentPool pool(segment_bytes);
    SegmentLog log(pool);
    const SegmentRef held(append(log, std::string(60, 'a')).segment);
    const Slice next = append(log, std::string(5, 'b'));
    CHECK(next.segment != held.get());
    CHECK(next.begin == 0);
    CHECK(next.segment->start == segment_bytes);
    CHECK(log.end() == 2 * segment_bytes);
    CHECK(log.segments_opened() == 2);
}

TEST_CASE("a message may fill a segment to its last byte", "[core][session][log]") {
    SegmentPool pool(segment_bytes);
    SegmentLog log(pool);
    CHECK(text_of(append(log, std::string(segment_bytes, 'x'))) == std::string(segment_bytes, 'x'));
    CHECK(log.end() == segment_bytes);
}

TEST_CASE("a message larger than a segment gets its own segment, which is not kept", "[core][session][log]") {
    SegmentPool pool(segment_bytes);
    SegmentLog log(pool);
    const std::string large(10 * segment_bytes, 'x');
    CHECK(text_of(append(log, large)) == large);
    CHECK(pool.memory_bytes() == large.size());
    append(log, "y");
    CHECK(pool.memory_bytes() == segment_bytes);
    CHECK(log.end() == large.size() + segment_bytes);
}

TEST_CASE("the samples of any part of a segment are listed, newest first", "[core][session][log]") {
    SegmentPool pool(256);
    SegmentLog log(pool);
    const Slice first = append(log, "one", {ChannelId{1}, 10, 12});
    append(log, "a message without samples");
    const Slice second = append(log, "two", {ChannelId{2}, 20, 20});
    const Slice third = append(log, "three", {ChannelId{1}, 13, 13});
    const auto all = samples_of({first.segment, 0, third.end});
    REQUIRE(all.size() == 3);
    CHECK(all[0].channel == ChannelId{1});
    CHECK(all[0].first_seq == 13);
    CHECK(all[0].offset == third.begin);
    CHECK(all[2].range().last_seq == 12);
    REQUIRE(samples_of(second).size() == 1);
    CHECK(samples_of(second).front().channel == ChannelId{2});
    CHECK(samples_of({first.segment, first.end, second.begin}).empty());
    CHECK(samples_of({first.segment, first.end, third.begin}).size() == 1);
}

TEST_CASE("messages and their samples share a segment, and a reused segment has none", "[core][session][log]") {
    SegmentPool pool(256);
    SegmentLog log(pool);
    std::uint64_t seq = 0;
    for (std::uint64_t segment = 1; segment < 10; ++segment) {
        Slice last{};
        for (int count = 0; count < 4; ++count, ++seq) {
            last = append(log, std::string(40, 'x'), {ChannelId{0}, seq, seq});
            CHECK(log.segments_opened() == segment);
            CHECK(text_of(last) == std::string(40, 'x'));
        }
        CHECK(samples_of({last.segment, 0, last.end}).size() == 4);
        CHECK(samples_of({last.segment, 0, last.end}).back().first_seq == seq - 4);
        CHECK(log.position() == 256 * segment - 96);
    }
    CHECK(pool.memory_bytes() == 256);
}

TEST_CASE("a segment without readers is reused", "[core][session][log]") {
    SegmentPool pool(segment_bytes);
    SegmentLog log(pool);
    for (int count = 0; count < 1000; ++count) {
        append(log, std::string(segment_bytes, 'x'));
    }
    CHECK(log.segments_opened() == 1000);
    CHECK(pool.memory_bytes() == segment_bytes);
}

TEST_CASE("a segment with readers keeps its bytes while the log continues", "[core][session][log]") {
    SegmentPool pool(segment_bytes);
    SegmentLog log(pool);
    const Slice held = append(log, "keep me");
    const SegmentRef reader(held.segment);
    for (int count = 0; count < 100; ++count) {
        append(log, std::string(segment_bytes, 'x'));
    }
    CHECK(text_of(held) == "keep me");
    CHECK(pool.memory_bytes() == 2 * segment_bytes);
}

TEST_CASE("segments that readers release are freed, except for a few spare ones", "[core][session][log]") {
    SegmentPool pool(segment_bytes);
    SegmentLog log(pool);
    std::vector<SegmentRef> readers;
    for (int count = 0; count < 100; ++count) {
        readers.emplace_back(append(log, std::string(segment_bytes, 'x')).segment);
    }
    CHECK(pool.memory_bytes() == 100 * segment_bytes);
    readers.clear();
    CHECK(pool.memory_bytes() <= 17 * segment_bytes);
}

TEST_CASE("short messages for readers in the process rotate through many segments, long ones stay in few",
          "[core][session][log]") {
    constexpr std::size_t usual_bytes = 4096;
    SegmentPool pool(usual_bytes);
    pool.add_reader_in_process();
    SegmentLog log(pool);
    const bool has_samples = GENERATE(false, true);  // the space for them does not make a message longer
    const auto append = [&log, has_samples](std::size_t bytes) {
        std::memset(log.prepare(bytes, has_samples ? sizeof(LoggedSamples) : 0), 'x', bytes);
        return log.commit(bytes).segment;
    };
    constexpr std::size_t short_bytes = 1536;
    std::vector<const Segment*> used;
    for (std::size_t count = 0; count < 100; ++count) {
        used.push_back(append(short_bytes));
        append(short_bytes);
    }
    const std::set<const Segment*> round(used.begin(), used.begin() + 8);
    CHECK(round.size() == 8);
    CHECK(std::equal(used.begin() + 8, used.end(), used.begin()));
    CHECK(pool.memory_bytes() == 8 * usual_bytes);
    const Segment* const filled = append(short_bytes + 1);
    for (int count = 0; count < 100; ++count) {
        append(short_bytes + 1);
        CHECK(append(short_bytes + 1) == filled);
    }
    pool.remove_reader_in_process();
    for (int count = 0; count < 100; ++count) {
        append(short_bytes);
        CHECK(append(short_bytes) == filled);
    }
}

TEST_CASE("more spare segments are kept while there are readers in the process", "[core][session][log]") {
    SegmentPool pool(segment_bytes);
    SegmentLog log(pool);
    pool.add_reader_in_process();
    std::vector<SegmentRef> readers;
    for (int count = 0; count < 100; ++count) {
        readers.emplace_back(append(log, std::string(segment_bytes, 'x')).segment);
    }
    readers.clear();
    CHECK(pool.memory_bytes() == 25 * segment_bytes);  // the one being filled belongs to the log
    pool.remove_reader_in_process();
    CHECK(pool.memory_bytes() == 17 * segment_bytes);
}

TEST_CASE("a segment is free only when its last reader has released it", "[core][session][log]") {
    SegmentPool pool(segment_bytes);
    SegmentLog log(pool);
    const Slice slice = append(log, std::string(segment_bytes, 'x'));
    SegmentRef one(slice.segment);
    SegmentRef two(slice.segment);
    append(log, std::string(segment_bytes, 'y'));
    one.reset();
    append(log, std::string(segment_bytes, 'z'));
    CHECK(text_of(slice) == std::string(segment_bytes, 'x'));
    two = SegmentRef();
    CHECK(text_of(append(log, std::string(segment_bytes, 'w'))) == std::string(segment_bytes, 'w'));
    CHECK(pool.memory_bytes() == 2 * segment_bytes);
}

TEST_CASE("a released log holds no segment, and continues at its position", "[core][session][log]") {
    SegmentPool pool(segment_bytes);
    SegmentLog log(pool);
    append(log, "one");
    log.release();
    const Slice next = append(log, "two");
    CHECK(next.begin == 0);
    CHECK(next.segment->start == segment_bytes);
    CHECK(pool.memory_bytes() == segment_bytes);
}

TEST_CASE("logs of one pool share its spare segments", "[core][session][log]") {
    SegmentPool pool(segment_bytes);
    SegmentLog one(pool);
    SegmentLog other(pool);
    append(one, "a");
    one.release();
    append(other, "b");
    CHECK(pool.memory_bytes() == segment_bytes);
}

TEST_CASE("a small log takes a usual segment when its small ones are full, and starts small again",
          "[core][session][log]") {
    SegmentPool pool(64 * 1024);
    SegmentLog log(pool, SegmentLog::First::small);
    const Slice first = append(log, std::string(100, 'a'));
    CHECK(first.segment->capacity == 4096);
    const SegmentRef held(first.segment);
    CHECK(append(log, std::string(4000, 'b')).segment->capacity == 64 * 1024);
    log.release();
    CHECK(append(log, "c").segment->capacity == 4096);
    log.release();
    CHECK(append(log, std::string(5000, 'd')).segment->capacity == 64 * 1024);
}

TEST_CASE("a small log grows in steps, and segments of each size are reused", "[core][session][log]") {
    SegmentPool pool(256 * 1024);
    for (int round = 0; round < 3; ++round) {
        SegmentLog log(pool, SegmentLog::First::small);
        const SegmentRef first(append(log, std::string(4000, 'a')).segment);
        CHECK(first->capacity == 4096);
        const SegmentRef second(append(log, std::string(64'000, 'b')).segment);
        CHECK(second->capacity == 64 * 1024);
        const SegmentRef third(append(log, std::string(2'000, 'c')).segment);
        CHECK(third->capacity == 256 * 1024);
        CHECK(pool.memory_bytes() == 4096 + 64 * 1024 + 256 * 1024);
    }
}

TEST_CASE("a thousand logs with one small message each stay small", "[core][session][log]") {
    SegmentPool pool(64 * 1024);
    std::vector<SegmentLog> logs;
    std::vector<SegmentRef> readers;
    for (int count = 0; count < 1000; ++count) {
        logs.emplace_back(pool, SegmentLog::First::small);
        readers.emplace_back(append(logs.back(), "x").segment);
    }
    CHECK(pool.memory_bytes() <= 1000 * 4096);
    logs.clear();
    readers.clear();
    CHECK(pool.memory_bytes() <= 64 * 4096);
}

TEST_CASE("a held segment counts once for any number of holds, until the last one is released",
          "[core][session][log]") {
    SegmentPool pool(segment_bytes);
    SegmentLog log(pool);
    const SegmentRef usual(append(log, "one").segment);
    const SegmentRef large(append(log, std::string(10 * segment_bytes, 'x')).segment);
    CHECK(pool.held_bytes() == 0);
    SegmentHold first;
    first.set(usual.get());
    CHECK(pool.held_bytes() == segment_bytes);
    {
        SegmentHold second;
        second.set(usual.get());
        CHECK(pool.held_bytes() == segment_bytes);
        SegmentHold third;
        third.set(large.get());
        CHECK(pool.held_bytes() == 11 * segment_bytes);
        first.reset();
        CHECK_FALSE(first.is_set());
        CHECK(pool.held_bytes() == 11 * segment_bytes);
    }
    CHECK(pool.held_bytes() == 0);
    first.reset();
    CHECK(pool.held_bytes() == 0);
}

TEST_CASE("a hold that is set to another segment releases the first", "[core][session][log]") {
    SegmentPool pool(segment_bytes);
    SegmentLog log(pool);
    const SegmentRef usual(append(log, "one").segment);
    const SegmentRef large(append(log, std::string(10 * segment_bytes, 'x')).segment);
    SegmentHold hold;
    hold.set(usual.get());
    hold.set(large.get());
    CHECK(pool.held_bytes() == 10 * segment_bytes);
    CHECK(usual->holds == 0);
}
