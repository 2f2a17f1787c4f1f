#include "buffers/segment_log.hpp"
#include "core/limits.hpp"
#include "core/transport/stream_reader.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/stream_pair.hpp"

#include <cstring>
#include <string>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

constexpr std::size_t segment_bytes = 64 * 1024;
constexpr std::size_t bytes_in_flight = 512 * 1024;

struct Fixture {
    Fixture() : pair(make_stream_pair(reactor, reactor, Transport::inproc, "")) {}

    /// Adds to the log, and returns the part that refers to it.
    StreamPart add(std::string_view text) {
        std::memcpy(log.prepare(text.size()), text.data(), text.size());
        const Slice slice = log.commit(text.size());
        return {slice.segment->bytes.get() + slice.begin, text.size(), slice.segment};
    }
    StreamWrite write(const StreamPart& part) { return pair.accepted->write({&part, 1}); }
    StreamWrite write_in_segment(std::string_view text) { return write(add(text)); }
    /// Writes whole segments and releases each, until the stream accepts no more.
    std::size_t fill() {
        std::size_t bytes = 0;
        while (true) {
            const StreamPart part = add(pattern(segment_bytes, bytes));
            const SegmentRef keep(part.segment);
            log.release();
            if (write(part).status != IoStatus::ok) {
                return bytes;
            }
            bytes += part.bytes;
        }
    }

    Reactor reactor;
    SegmentPool pool{segment_bytes};
    SegmentLog log{pool};
    StreamPair pair;
};

}  // namespace

TEST_CASE("memory of a segment is lent, not copied", "[core][transport][inproc]") {
    Fixture f;
    const StreamPart part = f.add("hello");
    CHECK(f.write(part).bytes == 5);
    StreamReader reader(*f.pair.connected);
    CHECK(f.pair.connected->read(reader.input()).bytes == 5);
    CHECK(reader.input().unread().data() == part.data);
}

TEST_CASE("data that is not in a segment is copied within the call", "[core][transport][inproc]") {
    Fixture f;
    std::string text = "short-lived";
    CHECK(write_text(*f.pair.accepted, text).bytes == text.size());
    text.assign(text.size(), '?');
    StreamReader reader(*f.pair.connected);
    CHECK(reader.read() == "short-lived");
}

TEST_CASE("adjacent parts arrive as one piece", "[core][transport][inproc]") {
    Fixture f;
    const std::string_view loose = "loose ends";
    const auto* data = reinterpret_cast<const std::byte*>(loose.data());
    const std::vector<StreamPart> parts{f.add("one "), f.add("two "), {data, 6, nullptr}, {data + 6, 4, nullptr}};
    CHECK(f.pair.accepted->write(parts).bytes == 18);
    StreamReader reader(*f.pair.connected);
    CHECK(reader.read(1) == "one two ");
    CHECK(reader.read(1) == "one two loose ends");
    CHECK(f.pair.connected->read(reader.input()).status == IoStatus::would_block);
}

TEST_CASE("a segment is held until the reader is done with it, and no longer", "[core][transport][inproc]") {
    Fixture f;
    const StreamPart part = f.add("hello");
    CHECK(f.write(part).bytes == 5);
    CHECK(part.segment->refs == 2);  // the log's own reference
    StreamReader reader(*f.pair.connected);
    CHECK(f.pair.connected->read(reader.input()).bytes == 5);
    CHECK(f.pair.accepted->unacknowledged_bytes() == 5);
    CHECK(part.segment->refs == 2);
    reader.consume(5);
    CHECK(f.pair.connected->read(reader.input()).status == IoStatus::would_block);
    CHECK(f.pair.accepted->unacknowledged_bytes() == 0);
    CHECK(part.segment->refs == 1);
}

TEST_CASE("half a megabyte may be in flight, and segments are used again", "[core][transport][inproc]") {
    Fixture f;
    CHECK(f.fill() == bytes_in_flight);
    CHECK(f.pair.accepted->unacknowledged_bytes() == bytes_in_flight);
    StreamReader reader(*f.pair.connected);
    CHECK(reader.read() == pattern(bytes_in_flight));
    const std::size_t memory = f.pool.memory_bytes();
    for (int round = 0; round < 20; ++round) {
        CHECK(f.fill() == bytes_in_flight);
        reader.read();
    }
    CHECK(f.pool.memory_bytes() <= memory);
}

TEST_CASE("two megabytes of segments with goes_round may be in flight, and half a megabyte of others",
          "[core][transport][inproc]") {
    Fixture f;
    f.pool.add_reader_in_process();
    std::size_t bytes = 0;
    for (bool is_full = false; !is_full;) {
        std::vector<StreamPart> parts;
        for (int count = 0; count < 64; ++count) {
            parts.push_back(f.add(pattern(1024, bytes + parts.size() * 1024)));
        }
        const StreamWrite result = f.pair.accepted->write(parts);
        bytes += result.bytes;
        is_full = result.status != IoStatus::ok;
    }
    CHECK(bytes == 2 * 1024 * 1024);
    StreamReader reader(*f.pair.connected);
    CHECK(reader.read() == pattern(bytes));
    f.log.release();
    CHECK(f.fill() == bytes_in_flight);
}

TEST_CASE("one part may be larger than what may be in flight", "[core][transport][inproc]") {
    Fixture f;
    const std::string text = pattern(5'000'000);
    CHECK(f.write_in_segment(text).bytes == text.size());
    CHECK(f.write_in_segment("x").status == IoStatus::would_block);
    StreamReader reader(*f.pair.connected);
    CHECK(reader.read() == text);
    CHECK(f.write_in_segment("x").bytes == 1);
}

TEST_CASE("only a limited number of pieces may be in flight", "[core][transport][inproc]") {
    Fixture f;
    std::string expected;
    for (std::size_t count = 0; count < limits::inproc_parts_max; ++count) {
        REQUIRE(f.write_in_segment("ab").bytes == 2);
        expected += "ab";
    }
    CHECK(f.write_in_segment("ab").status == IoStatus::would_block);
    StreamReader reader(*f.pair.connected);
    CHECK(reader.read() == expected);
    CHECK(f.write_in_segment("cd").bytes == 2);
    CHECK(reader.read() == expected + "cd");
}

TEST_CASE("a write accepts as many parts as fit", "[core][transport][inproc]") {
    Fixture f;
    for (std::size_t count = 0; count < limits::inproc_parts_max - 2; ++count) {
        REQUIRE(f.write_in_segment("ab").bytes == 2);
    }
    std::vector<StreamPart> parts;
    for (int count = 0; count < 10; ++count) {
        parts.push_back(f.add("cd"));
        f.add(" ");  // so that they are not merged
    }
    CHECK(f.pair.accepted->write(parts).bytes == 4);
}

TEST_CASE("the beginning of a lent message survives the reading of its end", "[core][transport][inproc]") {
    Fixture f;
    StreamReader reader(*f.pair.connected, 4);
    Input& input = reader.input();
    CHECK(f.write_in_segment("message one, mess").bytes == 17);
    CHECK(f.pair.connected->read(input).bytes == 17);
    reader.consume(13);
    CHECK(f.pair.connected->read(input).status == IoStatus::would_block);
    CHECK(f.pair.accepted->unacknowledged_bytes() == 0);  // it holds no memory of the writer while it waits
    CHECK(f.write_in_segment("age two").bytes == 7);
    while (f.pair.connected->read(input).status == IoStatus::ok) {
    }
    reader.consume(input.unread().size());
    CHECK(reader.received == "message one, message two");
}

TEST_CASE("a writer that is destroyed leaves its data to the reader, although its pool is gone too",
          "[core][transport][inproc]") {
    Reactor reactor;
    StreamPair pair = make_stream_pair(reactor, reactor, Transport::inproc, "");
    StreamReader reader(*pair.connected);
    {
        Fixture f;
        f.pair = std::move(pair);
        pair.connected = std::move(f.pair.connected);
        REQUIRE(f.fill() == bytes_in_flight);
        CHECK(write_text(*f.pair.accepted, "").status == IoStatus::would_block);
        CHECK(reader.read(1).size() == segment_bytes);
    }
    CHECK(reader.at_end());
    CHECK(reader.received == pattern(bytes_in_flight));
}

TEST_CASE("memory left behind by a writer is not written to again", "[core][transport][inproc]") {
    Fixture f;
    REQUIRE(f.fill() == bytes_in_flight);
    StreamReader reader(*f.pair.connected);
    CHECK(reader.read(1).size() == segment_bytes);
    f.pair.accepted.reset();
    for (int count = 0; count < 40; ++count) {
        f.add(std::string(segment_bytes, '!'));
    }
    CHECK(reader.at_end());
    CHECK(reader.received == pattern(bytes_in_flight));
}

TEST_CASE("a reader that is destroyed frees the writer's memory with the writer", "[core][transport][inproc]") {
    Fixture f;
    const StreamPart part = f.add("hello");
    CHECK(f.write(part).bytes == 5);
    f.pair.connected.reset();
    CHECK(f.write(part).error == EPIPE);
    f.pair.accepted.reset();
    CHECK(part.segment->refs == 1);
    CHECK_FALSE(part.segment->left_behind);
}

TEST_CASE("a waiting writer is not woken for every piece", "[core][transport][inproc]") {
    Fixture f;
    int calls = 0;
    f.pair.accepted->watch([] {}, [&] { ++calls; });
    REQUIRE(f.fill() == bytes_in_flight);
    f.pair.accepted->wait_writable();
    StreamReader reader(*f.pair.connected);
    reader.read(2);
    f.reactor.poll();
    CHECK(calls == 0);
    reader.read(3);
    CHECK(eventually([&] {
        f.reactor.poll();
        return calls == 1;
    }));
}

TEST_CASE("a waiting reader that holds a large piece is called to give it back", "[core][transport][inproc]") {
    Fixture f;
    StreamReader reader(*f.pair.connected);
    bool is_writable = false;
    f.pair.accepted->watch([] {}, [&] { is_writable = true; });
    f.pair.connected->watch([&] { reader.read(); }, [] {});
    const std::string text = pattern(2'000'000);
    REQUIRE(f.write_in_segment(text).bytes == text.size());
    f.pair.accepted->wait_writable();
    REQUIRE(f.pair.connected->read(reader.input()).bytes == text.size());
    reader.consume(text.size());
    f.pair.connected->wait_readable();  // nothing more has arrived, and nothing can arrive
    CHECK(eventually([&] {
        f.reactor.poll();
        return is_writable;
    }));
}

TEST_CASE("a reader that holds the rest of a large piece is called to give it back", "[core][transport][inproc]") {
    Fixture f;
    StreamReader reader(*f.pair.connected, 64 * 1024);
    bool is_writable = false;
    f.pair.accepted->watch([] {}, [&] { is_writable = true; });
    f.pair.connected->watch([&] { reader.read(); }, [] {});
    REQUIRE(f.write_in_segment("ab").bytes == 2);
    REQUIRE(f.write_in_segment(pattern(300'000)).bytes == 300'000);
    f.pair.accepted->wait_writable();
    REQUIRE(f.pair.connected->read(reader.input()).bytes == 2);
    reader.consume(1);
    REQUIRE(f.pair.connected->read(reader.input()).status == IoStatus::ok);  // copied after the remaining data
    reader.consume(reader.input().unread().size());
    REQUIRE(f.pair.connected->read(reader.input()).status == IoStatus::ok);  // lent
    REQUIRE(reader.input().unread().size() < bytes_in_flight / 2);
    reader.consume(reader.input().unread().size());
    f.pair.connected->wait_readable();
    CHECK(eventually([&] {
        f.reactor.poll();
        return is_writable;
    }));
}
