#include "support/catch.hpp"
#include "uplink/uplink_world.hpp"

#include <chrono>
#include <cstddef>

namespace telegate::uplink {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("a rewound uplink restores what the back end has lost", "[uplink][runner]") {
    World world(1);
    world.start();
    std::vector<std::int64_t> times;
    for (int i = 0; i < 10; ++i) {
        world.add(0, 10);
        world.sync();
    }
    REQUIRE(world.finish());
    const store::Position end = world.runner->status().settled;
    world.back_end.lose_last(8);
    CHECK(world.runner->rewind(RewindTarget(end + 1)) == UplinkRunner::RewindResult::not_delivered);
    CHECK(world.runner->status().settled == end);
    REQUIRE(world.runner->rewind(RewindTarget(store::Position{5})) == UplinkRunner::RewindResult::done);
    world.finish_without_repeats();
    CHECK(world.runner->status().settled == end);
    CHECK(world.runner->status().counts.duplicates > 0);
    const std::uint64_t sent = world.runner->status().counts.sent;
    const auto time = std::chrono::nanoseconds(store::make_sample(1, ChannelId{0}, 91).time_utc_ns);
    REQUIRE(world.runner->rewind(RewindTarget(time)) == UplinkRunner::RewindResult::done);
    REQUIRE(world.finish());
    CHECK(world.runner->status().counts.sent == sent + 2);  // the last block
}

TEST_CASE("messages that the back end has acknowledged and lost are delivered again", "[uplink][runner]") {
    World world(1);
    world.start();
    for (int i = 0; i < 10; ++i) {
        world.deliver(10);
        world.turn(true, seconds(6));
    }
    world.back_end.lose_last(5);
    SECTION("it is found by a check while nothing is sent") {}
    SECTION("it is found by the place of the next message") {
        world.back_end.lose_last(1);
        world.add(0, 10);
        world.sync();
    }
    SECTION("it is found at the start of the next process") {
        world.end_process();
        world.start();
    }
    for (int i = 0; i < 15; ++i) {
        world.turn(true, seconds(1));
    }
    world.finish_without_repeats();
    CHECK(world.runner->status().losses == 1);
    CHECK(world.runner->status().ledger.balanced());
}

TEST_CASE("after a lost connection, messages are sent again that the back end may not have synced",
          "[uplink][runner]") {
    World world(1);
    world.unsynced = seconds(15);
    world.ack_grace = GENERATE(milliseconds(0), milliseconds(300'000));
    world.start();
    world.deliver(100);
    world.turn(true, seconds(2));  // saves the cursor
    world.turn(true, seconds(60));
    world.deliver(50);
    const std::size_t before = world.back_end.stored().size();
    world.back_end.forget_ids();
    world.adapter->fail();
    REQUIRE(world.finish());
    CHECK(world.check_complete() == 50);
    CHECK(world.runner->status().losses == 0);
    CHECK(world.runner->status().ledger.balanced());
    CHECK(world.back_end.stored().size() > before);
    world.turn(true, seconds(60));
    world.back_end.forget_ids();
    world.adapter->fail();
    REQUIRE(world.finish());
    CHECK(world.check_complete() == 100);  // the last ones before the last acknowledgment, whenever the server fails
}

TEST_CASE("after a restart, messages are sent again that the back end may have lost meanwhile", "[uplink][runner]") {
    World world(1);
    world.unsynced = seconds(15);
    world.start();
    world.deliver(100);
    world.turn(true, seconds(60));
    world.deliver(50);
    world.turn(true, seconds(2));  // saves the cursor
    world.back_end.forget_ids();
    world.restart_runner();
    REQUIRE(world.finish());
    CHECK(world.check_complete() == 50);
}

TEST_CASE("after a rewind, a lost connection has samples sent again, as a backlog or not", "[uplink][runner]") {
    World world(1);
    world.unsynced = seconds(15);
    world.order = GENERATE(UplinkRunner::Order::strict, UplinkRunner::Order::live_first);
    world.start();
    world.deliver(100);
    world.turn(true, seconds(60));
    world.back_end.forget_ids();
    REQUIRE(world.runner->rewind(store::Position{0}) == UplinkRunner::RewindResult::done);
    REQUIRE(world.finish());
    CHECK(world.check_complete() == 100);
    world.back_end.forget_ids();
    world.adapter->fail();
    REQUIRE(world.finish());
    CHECK(world.check_complete() == 200);
}

TEST_CASE("with live_first, new samples are sent again after a lost connection, although a backlog waits",
          "[uplink][runner]") {
    World world(1);
    world.unsynced = seconds(15);
    world.order = UplinkRunner::Order::live_first;
    world.start();
    world.deliver(100);
    world.turn(true, seconds(60));
    world.deliver(50);
    world.back_end.forget_ids();
    world.adapter->fail();
    REQUIRE(world.finish());
    CHECK(world.check_complete() == 50);
}

TEST_CASE("messages in flight at a rewind do not hide a loss", "[uplink][runner]") {
    World world(1);
    world.start();
    for (int i = 0; i < 10; ++i) {
        world.deliver(10);
    }
    const store::Position settled = world.runner->status().settled;
    world.add(0, 30);
    world.sync();
    REQUIRE(world.adapter->in_flight() > 0);
    world.back_end.lose_last(world.adapter->in_flight());
    REQUIRE(world.runner->rewind(RewindTarget(settled)) == UplinkRunner::RewindResult::done);
    world.finish_without_repeats();
    CHECK(world.runner->status().losses == 1);
}

}  // namespace telegate::uplink
