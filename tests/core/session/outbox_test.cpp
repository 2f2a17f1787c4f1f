#include "session/outbox.hpp"

#include "core/limits.hpp"
#include "core/session/offered.hpp"
#include "support/catch.hpp"
#include "support/zmtp_text.hpp"

#include <array>
#include <string>
#include <vector>

using namespace telegate;
using telegate::test::frame;
using telegate::test::offered;

namespace {

constexpr std::size_t outbox_segment_bytes = 64 * 1024;

void append(Outbox& outbox, const std::vector<std::string>& texts) {
    std::vector<Bytes> frames;
    for (const std::string& text : texts) {
        frames.push_back(as_bytes(text));
    }
    outbox.append(frames);
}

bool adds_up(const Outbox& outbox) {
    return outbox.matched() == outbox.sent() + outbox.dropped() + outbox.backlog().messages();
}

}  // namespace

TEST_CASE("frames are written with their headers", "[core][session][outbox]") {
    SegmentPool pool(outbox_segment_bytes);
    Outbox outbox(pool);
    const auto bytes =
        GENERATE(std::size_t{0}, std::size_t{1}, std::size_t{255}, std::size_t{256}, std::size_t{70'000});
    const std::string body(bytes, 'b');
    append(outbox, {"a", body, ""});
    const std::string wire = frame(1, "a") + frame(1, body) + frame(0, "");
    CHECK(offered(outbox) == wire);
    const std::array<Bytes, 3> frames = {as_bytes("a"), as_bytes(body), Bytes()};
    CHECK(zmtp::message_bytes(frames) == wire.size());
    CHECK(outbox.backlog().messages() == 1);
}

TEST_CASE("a finished frame is added unchanged", "[core][session][outbox]") {
    SegmentPool pool(outbox_segment_bytes);
    Outbox outbox(pool);
    const std::string wire = test::subscribe("topic");
    outbox.append_wire(as_bytes(wire));
    CHECK(offered(outbox) == wire);
    CHECK(outbox.matched() == 1);
}

TEST_CASE("an outbox that has sent everything holds no segment", "[core][session][outbox]") {
    SegmentPool pool(outbox_segment_bytes);
    Outbox outbox(pool);
    append(outbox, {"hello"});
    CHECK(outbox.consume(7) == 1);
    SegmentLog other(pool, SegmentLog::First::small);
    (void)other.prepare(1);
    CHECK(pool.memory_bytes() == 4096);
    CHECK(outbox.sent() == 1);
    CHECK(adds_up(outbox));
}

TEST_CASE("an outbox has capacity up to its limit, and an empty one accepts any message", "[core][session][outbox]") {
    SegmentPool pool(outbox_segment_bytes);
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

TEST_CASE("messages lost with a connection are counted, and kept ones are sent again from the start",
          "[core][session][outbox]") {
    SegmentPool pool(outbox_segment_bytes);
    Outbox outbox(pool);
    append(outbox, {"one"});
    append(outbox, {"two"});
    append(outbox, {"three"});
    outbox.consume(7);
    CHECK(outbox.sent() == 1);
    outbox.restart_partial(false);
    CHECK(offered(outbox) == frame(0, "two") + frame(0, "three"));
    CHECK(adds_up(outbox));
    outbox.drop_all();
    CHECK(outbox.dropped() == 2);
    CHECK(outbox.backlog().empty());
    CHECK(adds_up(outbox));
}

TEST_CASE("a message that is interrupted again and again is dropped, and the next one is sent",
          "[core][session][outbox]") {
    SegmentPool pool(outbox_segment_bytes);
    Outbox outbox(pool);
    append(outbox, {std::string(1000, 'x')});
    append(outbox, {"behind"});
    const std::string all = offered(outbox);
    for (unsigned cut = 1; cut < limits::cuts_per_message_max; ++cut) {
        CHECK(outbox.consume(10) == 0);
        outbox.restart_partial(true);
        CHECK(offered(outbox) == all);
    }
    CHECK(outbox.dropped() == 0);
    CHECK(outbox.consume(1000) == 0);
    outbox.restart_partial(true);
    CHECK(outbox.dropped() == 1);
    CHECK(offered(outbox) == frame(0, "behind"));
    CHECK(adds_up(outbox));
    CHECK(outbox.consume(frame(0, "behind").size()) == 1);
    CHECK(outbox.backlog().empty());
    CHECK(outbox.backlog().bytes() == 0);
    CHECK(adds_up(outbox));
}

TEST_CASE("connections that are lost between messages drop no message", "[core][session][outbox]") {
    SegmentPool pool(outbox_segment_bytes);
    Outbox outbox(pool);
    append(outbox, {"small"});
    append(outbox, {"behind"});
    for (unsigned lost = 0; lost < 3 * limits::cuts_per_message_max; ++lost) {
        outbox.backlog().claim(frame(0, "small").size());  // sealed, but no byte of it was written
        outbox.restart_partial(false);
    }
    CHECK(offered(outbox) == frame(0, "small") + frame(0, "behind"));
    CHECK(outbox.dropped() == 0);
}

TEST_CASE("interruptions are counted for one message, not for the next", "[core][session][outbox]") {
    SegmentPool pool(outbox_segment_bytes);
    Outbox outbox(pool);
    const std::string wire = frame(0, "message");
    for (unsigned number = 0; number < 5; ++number) {
        append(outbox, {"message"});
        for (unsigned cut = 1; cut < limits::cuts_per_message_max; ++cut) {
            outbox.consume(1);
            outbox.restart_partial(true);
        }
        CHECK(outbox.consume(wire.size()) == 1);
    }
    CHECK(outbox.sent() == 5);
    CHECK(outbox.dropped() == 0);
    append(outbox, {"dropped"});
    append(outbox, {"behind"});
    for (unsigned cut = 0; cut < 2 * limits::cuts_per_message_max; ++cut) {
        outbox.consume(1);
        outbox.restart_partial(true);
    }
    CHECK(outbox.dropped() == 2);
    CHECK(outbox.backlog().empty());
    outbox.restart_partial(true);
    CHECK(adds_up(outbox));
}

TEST_CASE("a rest whose start is gone is dropped and does not count against the next message",
          "[core][session][outbox]") {
    SegmentPool pool(outbox_segment_bytes);
    Outbox outbox(pool);
    append(outbox, {"rest"});
    outbox.consume(1);
    outbox.drop_before(1);
    append(outbox, {"next"});
    outbox.restart_partial(true);
    CHECK(outbox.dropped() == 1);
    for (unsigned cut = 1; cut < limits::cuts_per_message_max; ++cut) {
        outbox.consume(1);
        outbox.restart_partial(true);
    }
    CHECK(outbox.dropped() == 1);
    CHECK(offered(outbox) == frame(0, "next"));
    CHECK(adds_up(outbox));
}
