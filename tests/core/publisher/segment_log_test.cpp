#include "segment_log.hpp"

#include "support/catch.hpp"

#include <cstring>
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

std::string text_of(const Slice& slice) {
    return {reinterpret_cast<const char*>(slice.segment->bytes.get()) + slice.begin, slice.end - slice.begin};
}

}  // namespace

TEST_CASE("a log without messages holds no memory", "[core][publisher][log]") {
    const SegmentLog log(segment_bytes);
    CHECK(log.memory_bytes() == 0);
    CHECK(log.end() == 0);
}

TEST_CASE("messages lie one behind the other in a segment", "[core][publisher][log]") {
    SegmentLog log(segment_bytes);
    const Slice first = append(log, "one");
    const Slice second = append(log, "three");
    CHECK(first.segment == second.segment);
    CHECK(first.end == second.begin);
    CHECK(text_of(first) == "one");
    CHECK(text_of(second) == "three");
    CHECK(log.segments_opened() == 1);
}

TEST_CASE("room that a commit leaves over belongs to the next message", "[core][publisher][log]") {
    SegmentLog log(segment_bytes);
    const std::byte* room = log.prepare(50);
    CHECK(log.commit(10).end == 10);
    CHECK(log.prepare(50) == room + 10);
    CHECK(log.segments_opened() == 1);
}

TEST_CASE("a message that does not fit into what is left opens a segment", "[core][publisher][log]") {
    SegmentLog log(segment_bytes);
    const SegmentRef held(append(log, std::string(60, 'a')).segment);
    const Slice next = append(log, std::string(5, 'b'));
    CHECK(next.segment != held.get());
    CHECK(next.begin == 0);
    CHECK(next.segment->start == segment_bytes);
    CHECK(log.end() == 2 * segment_bytes);
    CHECK(log.segments_opened() == 2);
}

TEST_CASE("a message may fill a segment to its last byte", "[core][publisher][log]") {
    SegmentLog log(segment_bytes);
    CHECK(text_of(append(log, std::string(segment_bytes, 'x'))) == std::string(segment_bytes, 'x'));
    CHECK(log.end() == segment_bytes);
}

TEST_CASE("a message larger than a segment gets one of its own size, which is not kept", "[core][publisher][log]") {
    SegmentLog log(segment_bytes);
    const std::string large(10 * segment_bytes, 'x');
    CHECK(text_of(append(log, large)) == large);
    CHECK(log.memory_bytes() == large.size());
    append(log, "y");
    CHECK(log.memory_bytes() == segment_bytes);
    CHECK(log.end() == large.size() + segment_bytes);
}

TEST_CASE("a segment that nobody reads is used again", "[core][publisher][log]") {
    SegmentLog log(segment_bytes);
    for (int count = 0; count < 1000; ++count) {
        append(log, std::string(segment_bytes, 'x'));
    }
    CHECK(log.segments_opened() == 1000);
    CHECK(log.memory_bytes() == segment_bytes);
}

TEST_CASE("a segment that is read keeps its bytes while the log goes on", "[core][publisher][log]") {
    SegmentLog log(segment_bytes);
    const Slice held = append(log, "keep me");
    const SegmentRef reader(held.segment);
    for (int count = 0; count < 100; ++count) {
        append(log, std::string(segment_bytes, 'x'));
    }
    CHECK(text_of(held) == "keep me");
    CHECK(log.memory_bytes() == 2 * segment_bytes);
}

TEST_CASE("what readers let go of is freed, but for a few spare segments", "[core][publisher][log]") {
    SegmentLog log(segment_bytes);
    std::vector<SegmentRef> readers;
    for (int count = 0; count < 100; ++count) {
        readers.emplace_back(append(log, std::string(segment_bytes, 'x')).segment);
    }
    CHECK(log.memory_bytes() == 100 * segment_bytes);
    readers.clear();
    CHECK(log.memory_bytes() <= 5 * segment_bytes);
}

TEST_CASE("a segment is free only when its last reader has let go", "[core][publisher][log]") {
    SegmentLog log(segment_bytes);
    const Slice slice = append(log, std::string(segment_bytes, 'x'));
    SegmentRef one(slice.segment);
    SegmentRef two(slice.segment);
    append(log, std::string(segment_bytes, 'y'));
    one.reset();
    append(log, std::string(segment_bytes, 'z'));
    CHECK(text_of(slice) == std::string(segment_bytes, 'x'));
    two = SegmentRef();
    CHECK(text_of(append(log, std::string(segment_bytes, 'w'))) == std::string(segment_bytes, 'w'));
    CHECK(log.memory_bytes() == 2 * segment_bytes);
}
