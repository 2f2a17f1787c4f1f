#include "outbox.hpp"

#include "support/catch.hpp"
#include "support/zmtp_text.hpp"

#include <array>
#include <string>
#include <vector>

using namespace telegate;
using telegate::test::frame;

namespace {

constexpr std::size_t segment_bytes = 64 * 1024;

void append(Outbox& outbox, const std::vector<std::string>& texts) {
    std::vector<Bytes> frames;
    for (const std::string& text : texts) {
        frames.push_back(as_bytes(text));
    }
    outbox.append(frames);
}

std::string offered(const Outbox& outbox) {
    std::array<StreamPart, 512> parts;
    std::string bytes;
    const std::size_t count = outbox.backlog().gather(parts);
    for (std::size_t i = 0; i < count; ++i) {
        bytes += as_text({parts[i].data, parts[i].bytes});
    }
    return bytes;
}

bool adds_up(const Outbox& outbox) {
    return outbox.matched() == outbox.sent() + outbox.dropped() + outbox.backlog().messages();
}

}  // namespace

TEST_CASE("frames are written with their headers", "[core][session][outbox]") {
    SegmentPool pool(segment_bytes);
    Outbox outbox(pool);
    const auto bytes =
        GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{256}, std::size_t{70'000});
    const std::string body(bytes, 'b');
    append(outbox, {"a", body, ""});
    const std::string wire = frame(1, "a") + frame(1, body) + frame(0, "");
    CHECK(offered(outbox) == wire);
    const std::array<Bytes, 3> frames = {as_bytes("a"), as_bytes(body), Bytes()};
    CHECK(Outbox::wire_bytes(frames) == wire.size());
    CHECK(outbox.backlog().messages() == 1);
}

TEST_CASE("a finished frame is added as it is", "[core][session][outbox]") {
    SegmentPool pool(segment_bytes);
    Outbox outbox(pool);
    const std::string wire = test::subscribe("topic");
    outbox.append_wire(as_bytes(wire));
    CHECK(offered(outbox) == wire);
    CHECK(outbox.matched() == 1);
}

TEST_CASE("an outbox that has sent everything holds no segment", "[core][session][outbox]") {
    SegmentPool pool(segment_bytes);
    Outbox outbox(pool);
    append(outbox, {"hello"});
    CHECK(outbox.consume(7) == 1);
    SegmentLog other(pool, SegmentLog::First::small);
    (void)other.prepare(1);
    CHECK(pool.memory_bytes() == 4096);
    CHECK(outbox.sent() == 1);
    CHECK(adds_up(outbox));
}

TEST_CASE("an outbox has room up to its limit, and an empty one for any message", "[core][session][outbox]") {
    SegmentPool pool(segment_bytes);
    Outbox outbox(pool);
    CHECK(outbox.has_room(1'000'000, 100));
    append(outbox, {std::string(48, 'x')});  // 50 bytes on the wire
    CHECK(outbox.has_room(50, 100));
    CHECK_FALSE(outbox.refused());
    CHECK_FALSE(outbox.has_room(51, 100));
    CHECK(outbox.refused());
    CHECK_FALSE(outbox.has_room(1'000'000, 100));
    outbox.end_refusal();
    CHECK_FALSE(outbox.refused());
}

TEST_CASE("what is lost with a connection is counted, and what is kept starts anew", "[core][session][outbox]") {
    SegmentPool pool(segment_bytes);
    Outbox outbox(pool);
    append(outbox, {"one"});
    append(outbox, {"two"});
    append(outbox, {"three"});
    outbox.consume(7);
    CHECK(outbox.sent() == 1);
    outbox.restart_partial();
    CHECK(offered(outbox) == frame(0, "two") + frame(0, "three"));
    CHECK(adds_up(outbox));
    outbox.give_up_all();
    CHECK(outbox.dropped() == 2);
    CHECK(outbox.backlog().empty());
    CHECK(adds_up(outbox));
}
