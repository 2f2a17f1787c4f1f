#include "session/backlog.hpp"

#include "core/limits.hpp"
#include "support/catch.hpp"
#include "support/zmtp_text.hpp"

#include <array>
#include <cstring>
#include <random>
#include <string>

using namespace telegate;
using telegate::test::message;

namespace {

/// A log of small segments and one reader of it.
struct BacklogLine {
    explicit BacklogLine(std::size_t segment_bytes = 64, std::size_t runs_max = 1000)
        : pool(segment_bytes), log(pool), backlog(runs_max) {}

    Slice append(const std::string& wire) {
        std::memcpy(log.prepare(wire.size()), wire.data(), wire.size());
        return log.commit(wire.size());
    }
    std::uint64_t add(const std::string& wire) { return backlog.add(append(wire)); }

    /// Returns what gather() offers, as text.
    [[nodiscard]] std::string offered() const {
        std::array<StreamPart, 512> parts;
        std::string bytes;
        const std::size_t count = backlog.gather(parts);
        for (std::size_t i = 0; i < count; ++i) {
            bytes.append(reinterpret_cast<const char*>(parts[i].data), parts[i].bytes);
        }
        return bytes;
    }
    /// Sends `bytes` and returns them.
    std::string send(std::size_t bytes) {
        const std::string sent = offered().substr(0, bytes);
        completed += backlog.consume(sent.size());
        return sent;
    }

    SegmentPool pool;
    SegmentLog log;
    Backlog backlog;
    std::uint64_t completed = 0;
};

std::string numbered(int number, std::size_t payload_bytes = 4) {
    std::string payload = std::to_string(number);
    payload.resize(std::max(payload.size(), payload_bytes), '.');
    return message("t", payload);
}

}  // namespace

TEST_CASE("an empty backlog offers nothing and is at a message boundary", "[core][session][backlog]") {
    const BacklogLine line;
    CHECK(line.backlog.empty());
    CHECK(line.backlog.at_boundary());
    CHECK(line.backlog.bytes_to_boundary() == 0);
    CHECK(line.offered().empty());
}

TEST_CASE("messages are offered whole and in order, across segments", "[core][session][backlog]") {
    BacklogLine line;
    std::string expected;
    for (int number = 0; number < 50; ++number) {
        expected += numbered(number);
        CHECK(line.add(numbered(number)) == 0);
    }
    CHECK(line.backlog.messages() == 50);
    CHECK(line.backlog.bytes() == expected.size());
    CHECK(line.offered() == expected);
}

TEST_CASE("adjacent messages in a segment form one run", "[core][session][backlog]") {
    BacklogLine line(4096);
    for (int number = 0; number < 20; ++number) {
        line.add(numbered(number));
    }
    std::array<StreamPart, 8> parts;
    CHECK(line.backlog.gather(parts) == 1);
}

TEST_CASE("a message that the reader does not want splits the run", "[core][session][backlog]") {
    BacklogLine line(4096);
    line.add(numbered(1));
    line.append(numbered(2));
    line.add(numbered(3));
    CHECK(line.offered() == numbered(1) + numbered(3));
    CHECK(line.backlog.messages() == 2);
}

TEST_CASE("gather fills no more entries than it is given", "[core][session][backlog]") {
    BacklogLine line(16);
    for (int number = 0; number < 10; ++number) {
        line.add(numbered(number));
    }
    std::array<StreamPart, 3> parts;
    CHECK(line.backlog.gather(parts) == 3);
    CHECK(line.backlog.gather(std::span<StreamPart>()) == 0);
}

TEST_CASE("sent one byte at a time, each message completes with its last byte", "[core][session][backlog]") {
    BacklogLine line;
    const std::size_t size = numbered(0).size();
    for (int number = 0; number < 10; ++number) {
        line.add(numbered(number));
    }
    for (std::size_t sent = 1; sent <= 10 * size; ++sent) {
        line.send(1);
        CHECK(line.completed == sent / size);
        CHECK(line.backlog.messages() == 10 - sent / size);
        CHECK(line.backlog.at_boundary() == (sent % size == 0));
        CHECK(line.backlog.bytes_to_boundary() == (sent % size == 0 ? 0 : size - sent % size));
    }
    CHECK(line.backlog.empty());
    CHECK(line.backlog.bytes() == 0);
}

TEST_CASE("long frames are stepped over like short ones", "[core][session][backlog]") {
    BacklogLine line(4096);
    const std::string large = numbered(1, 300);
    line.add(large);
    line.add(numbered(2));
    CHECK(line.send(large.size() - 1) == large.substr(0, large.size() - 1));
    CHECK(line.completed == 0);
    CHECK(line.backlog.bytes_to_boundary() == 1);
    CHECK(line.send(1 + numbered(2).size()) == large.back() + numbered(2));
    CHECK(line.completed == 2);
}

TEST_CASE("dropping before a position drops the ranges that begin there and keeps the rest",
          "[core][session][backlog]") {
    BacklogLine line(numbered(0).size());  // one message per segment
    for (int number = 0; number < 4; ++number) {
        line.add(numbered(number));
    }
    CHECK(line.backlog.drop_before(0) == 0);
    CHECK(line.backlog.drop_before(2 * numbered(0).size()) == 2);
    CHECK(line.offered() == numbered(2) + numbered(3));
    CHECK(line.backlog.messages() == 2);
    CHECK(line.backlog.bytes() == line.offered().size());
}

TEST_CASE("a partly sent message is finished when it is dropped", "[core][session][backlog]") {
    BacklogLine line(4096);
    line.add(numbered(1));
    line.add(numbered(2));
    const std::size_t sent = GENERATE(range<std::size_t>(1, 9));
    REQUIRE(numbered(1).size() > sent);
    const std::string head = line.send(sent);
    CHECK(line.backlog.drop_before(line.log.end()) == 1);
    CHECK_FALSE(line.backlog.at_boundary());
    CHECK(line.backlog.messages() == 1);
    CHECK(line.backlog.bytes() == numbered(1).size() - sent);
    CHECK(line.backlog.bytes_to_boundary() == numbered(1).size() - sent);
    CHECK(head + line.send(100) == numbered(1));
    CHECK(line.completed == 1);
    CHECK(line.backlog.empty());
}

TEST_CASE("the rest of a dropped message holds no segment", "[core][session][backlog]") {
    BacklogLine line(64);
    line.add(message("t", std::string(2000, 'x')));
    line.send(1);
    line.append(numbered(1));
    CHECK(line.pool.memory_bytes() > 2000);
    CHECK(line.backlog.drop_before(line.log.end()) == 0);
    CHECK(line.pool.memory_bytes() == 64);
    CHECK(line.backlog.bytes() > 1900);
}

TEST_CASE("new messages follow the rest of a dropped one, and the rest survives another loss",
          "[core][session][backlog]") {
    BacklogLine line(numbered(0).size());
    line.add(numbered(1));
    const std::string head = line.send(3);
    line.add(numbered(2));
    CHECK(line.backlog.drop_before(line.log.end()) == 1);
    line.add(numbered(3));
    CHECK(line.backlog.drop_before(line.log.end()) == 1);
    line.add(numbered(4));
    CHECK(line.backlog.messages() == 2);
    CHECK(head + line.send(100) == numbered(1) + numbered(4));
    CHECK(line.completed == 2);
}

TEST_CASE("dropping everything counts the partly sent message", "[core][session][backlog]") {
    BacklogLine line(numbered(0).size());
    line.add(numbered(1));
    line.add(numbered(2));
    line.send(3);
    line.backlog.drop_before(1);  // the first message is now a rest
    CHECK(line.backlog.drop_all() == 2);
    CHECK(line.backlog.empty());
    CHECK(line.backlog.at_boundary());
    CHECK(line.backlog.bytes() == 0);
    CHECK(line.backlog.drop_all() == 0);
}

TEST_CASE("a backlog with too many runs drops the oldest", "[core][session][backlog]") {
    BacklogLine line(4096, 4);
    std::uint64_t dropped = 0;
    for (int number = 0; number < 10; ++number) {
        dropped += line.add(numbered(number));
        line.append("x");  // so that no two messages coalesce
    }
    CHECK(dropped == 6);
    CHECK(line.offered() == numbered(6) + numbered(7) + numbered(8) + numbered(9));
    CHECK(line.backlog.messages() == 4);
}

TEST_CASE("a slow reader never makes the log exceed its limit", "[core][session][backlog]") {
    constexpr std::size_t segment = 256;
    constexpr std::size_t limit = 10 * segment;
    BacklogLine line(segment);
    std::size_t memory_max = 0;
    std::uint64_t lost = 0;
    std::uint64_t opened = 0;
    for (int number = 0; number < 5'000; ++number) {
        const Slice slice = line.append(numbered(number, 20));
        if (line.log.segments_opened() != opened && line.log.end() > limit) {
            opened = line.log.segments_opened();
            lost += line.backlog.drop_before(line.log.end() - limit);
        }
        lost += line.backlog.add(slice);
        memory_max = std::max(memory_max, line.pool.memory_bytes());
    }
    CHECK(lost + line.backlog.messages() == 5'000);
    CHECK(memory_max <= limit + 17 * segment);  // the spare segments
    CHECK(line.offered().ends_with(numbered(4'999, 20)));
}

TEST_CASE("whatever is sent and dropped, only whole messages come out, each at most once, in order",
          "[core][session][backlog]") {
    const unsigned seed = GENERATE(range(1U, 20U));
    CAPTURE(seed);
    std::mt19937 random(seed);
    BacklogLine line(128, 8);
    std::string stream;
    std::uint64_t dropped = 0;
    constexpr int messages = 2'000;
    for (int number = 0; number < messages; ++number) {
        dropped += line.add(numbered(number, random() % 40));
        if (random() % 4 == 0) {
            line.append("x");
        }
        stream += line.send(random() % 40);
        if (random() % 10 == 0) {
            dropped += line.backlog.drop_before(line.log.end() - random() % 500);
        }
        REQUIRE(line.completed + dropped + line.backlog.messages() == static_cast<std::uint64_t>(number) + 1);
        REQUIRE(line.backlog.bytes() == line.offered().size());
    }
    stream += line.send(1'000'000);

    std::uint64_t whole = 0;
    int last = -1;
    for (std::size_t at = 0; at < stream.size(); ++whole) {
        REQUIRE(stream.compare(at, 4, std::string("\x01\x01t\0", 4)) == 0);
        const auto payload_bytes = static_cast<unsigned char>(stream[at + 4]);
        const int number = std::stoi(stream.substr(at + 5, payload_bytes));
        REQUIRE(number > last);
        last = number;
        at += 5U + payload_bytes;
    }
    CHECK(whole == line.completed);
    CHECK(whole + dropped == messages);
    CHECK(line.backlog.empty());
}

TEST_CASE("a part in a segment names the segment, and a copied rest does not", "[core][session][backlog]") {
    BacklogLine line(4096);
    line.add(numbered(1));
    std::array<StreamPart, 4> parts;
    REQUIRE(line.backlog.gather(parts) == 1);
    CHECK(parts[0].segment != nullptr);
    line.send(3);
    line.backlog.drop_before(line.log.end());
    REQUIRE(line.backlog.gather(parts) == 1);
    CHECK(parts[0].segment == nullptr);
}

TEST_CASE("claimed messages survive being dropped, even across several segments", "[core][session][backlog]") {
    BacklogLine line(2 * numbered(0).size());
    std::string all;
    for (int number = 0; number < 7; ++number) {
        line.add(numbered(number));
        all += numbered(number);
    }
    const auto claimed = GENERATE(range<std::size_t>(0, 8));
    line.backlog.claim(claimed * numbered(0).size());
    CHECK(line.backlog.drop_before(line.log.end()) == 7 - claimed);
    CHECK(line.backlog.messages() == claimed);
    CHECK(line.offered() == all.substr(0, claimed * numbered(0).size()));
    for (std::size_t sent = 0; sent < claimed; ++sent) {
        line.send(numbered(0).size());
        CHECK(line.completed == sent + 1);
    }
    CHECK(line.backlog.empty());
    CHECK(line.backlog.bytes() == 0);
}

TEST_CASE("sent messages are no longer claimed", "[core][session][backlog]") {
    BacklogLine line(numbered(0).size());
    line.add(numbered(1));
    line.add(numbered(2));
    line.backlog.claim(numbered(0).size());
    line.send(numbered(0).size());
    CHECK(line.backlog.drop_before(line.log.end()) == 1);
    CHECK(line.backlog.empty());
}

TEST_CASE("after a restart a partly sent message is offered from its start", "[core][session][backlog]") {
    BacklogLine line(4096);
    line.add(numbered(1));
    line.add(numbered(2));
    line.send(numbered(1).size() + 3);
    CHECK(line.backlog.restart() == 0);
    CHECK(line.backlog.at_boundary());
    CHECK(line.offered() == numbered(2));
    CHECK(line.backlog.bytes() == numbered(2).size());
}

TEST_CASE("after a restart a message whose start is gone is dropped", "[core][session][backlog]") {
    BacklogLine line(4096);
    line.add(numbered(1));
    line.send(3);
    line.backlog.drop_before(line.log.end());
    line.add(numbered(2));
    CHECK(line.backlog.restart() == 1);
    CHECK(line.offered() == numbered(2));
    CHECK(line.backlog.messages() == 1);
    CHECK(line.backlog.bytes() == numbered(2).size());
}

TEST_CASE("a large partly sent message holds its segment, and only while it is needed", "[core][session][backlog]") {
    const std::string large = numbered(1, limits::rest_bytes_max + 1'000);
    BacklogLine line;
    line.add(large);
    line.add(numbered(2));
    std::string stream = line.send(100);
    CHECK(line.backlog.drop_before(line.log.end()) == 1);
    CHECK(line.backlog.messages() == 1);
    CHECK(line.backlog.bytes() == large.size() - 100);
    CHECK(line.pool.held_bytes() == segment_capacity(large.size()));
    CHECK(line.backlog.held_position() == 0U);

    line.append(std::string(64, '.'));
    line.add(numbered(3));
    CHECK(line.backlog.drop_before(line.log.end()) == 1);
    line.append(std::string(64, '.'));
    line.add(numbered(4));
    stream += line.send(large.size() + 100);
    CHECK((stream == large + numbered(4)));
    CHECK(line.completed == 2);
    CHECK(line.pool.held_bytes() == 0);
    CHECK_FALSE(line.backlog.held_position());
}

TEST_CASE("whatever ends a backlog that holds a segment, the hold ends at once", "[core][session][backlog]") {
    const std::string large = numbered(1, limits::rest_bytes_max + 1'000);
    BacklogLine line;
    line.add(large);
    line.send(100);
    CHECK(line.backlog.drop_before(line.log.end()) == 0);
    REQUIRE(line.pool.held_bytes() > 0);
    SECTION("dropped") {
        CHECK(line.backlog.drop_all() == 1);
        CHECK(line.backlog.bytes() == 0);
    }
    SECTION("restarted: the message is whole, and pending like any other") {
        CHECK(line.backlog.restart() == 0);
        CHECK(line.backlog.bytes() == large.size());
        CHECK((line.offered() == large));
        CHECK(line.backlog.drop_before(line.log.end()) == 1);
    }
    CHECK(line.pool.held_bytes() == 0);
}

TEST_CASE("a held run does not count toward the limit of a backlog", "[core][session][backlog]") {
    const std::string large = numbered(1, limits::rest_bytes_max + 1'000);
    BacklogLine line(64, 1);
    line.add(large);
    line.send(100);
    CHECK(line.add(numbered(2)) == 0);
    line.append("x");
    CHECK(line.add(numbered(3)) == 1);
    CHECK(line.backlog.messages() == 2);
    CHECK((line.send(1'000'000) == large.substr(100) + numbered(3)));
    CHECK(line.add(numbered(4)) == 0);
    line.append("x");
    CHECK(line.add(numbered(5)) == 1);
    CHECK(line.offered() == numbered(5));
}
