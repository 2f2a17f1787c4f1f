#include "uplink/uplink_world.hpp"

#include "support/catch.hpp"
#include "uplink/start_cursor.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <system_error>
#include <vector>

namespace telegate::uplink {

TEST_CASE("a cursor within a block is moved to its beginning", "[uplink][runner]") {
    World world(1);
    world.order = UplinkRunner::Order::live_first;
    world.start();
    world.add(0, 50);
    world.sync();
    CursorFile file(world.disk, "/log", "cloud");
    (void)file.read();
    file.write({.log_id = world.log_id, .position = 30, .backlog = {{5, 20}}});
    world.restart_runner();
    world.finish_without_repeats();
    CHECK(world.restarts == 0);
}

TEST_CASE("a cursor whose positions are moved to the beginnings of blocks can be saved", "[uplink][runner]") {
    World world(1);
    world.start();
    world.add(0, 50);
    world.sync();
    const Cursor saved{.log_id = world.log_id, .position = 30, .backlog = {{5, 20}, {22, 28}}};
    const std::string directory = "/log";
    const StartCursor moved = start_cursor({world.disk, directory, world.log_id, 50}, saved);
    CHECK(moved.problem.empty());
    CHECK(moved.cursor.is_consistent());
}

TEST_CASE("a cursor of another log is not used", "[uplink][runner]") {
    World world(1);
    world.start();
    world.deliver(10);
    CursorFile file(world.disk, "/log", "cloud");
    (void)file.read();
    file.write({store::LogId{std::byte{1}}, 5});
    world.restart_runner();
    REQUIRE(world.finish());
    CHECK(world.restarts == 1);
    CHECK(world.runner->status().ledger.read == 10);
    CHECK(world.check_complete() == 0);  // the back end had all messages
}

TEST_CASE("a damaged cursor file is reported, and delivery begins at the oldest sample", "[uplink][runner]") {
    World world(1);
    world.start();
    world.deliver(10);
    world.turn(true, seconds(2));
    std::vector<std::byte>& content = world.disk.content("/log/cloud.cursor");
    std::fill(content.begin(), content.end(), std::byte{0xFF});
    world.restart_runner();
    REQUIRE(world.finish());
    CHECK(world.restarts == 1);
    CHECK(world.runner->status().ledger.read == 10);
}

TEST_CASE("a cursor file that has lost its content is reported once, and delivery begins at the oldest sample",
          "[uplink][runner]") {
    World world(1);
    world.start();
    world.deliver(10);
    world.turn(true, seconds(2));
    CHECK(world.warnings == 0);
    std::vector<std::byte>& content = world.disk.content("/log/cloud.cursor");
    if (GENERATE(true, false)) {
        std::fill(content.begin(), content.end(), std::byte{0});
    } else {
        content.clear();
    }
    world.restart_runner();
    REQUIRE(world.finish());
    CHECK(world.restarts + world.warnings == 1);
    CHECK(world.runner->status().ledger.read == 10);
}

TEST_CASE("another stream receives everything from the oldest sample on, and its places are its own",
          "[uplink][runner]") {
    World world(1);
    world.order = GENERATE(UplinkRunner::Order::strict, UplinkRunner::Order::live_first);
    world.back_end.stream = 1;
    world.start();
    world.deliver(50);
    world.turn(true, seconds(2));
    world.restart_runner();
    world.deliver(50);
    CHECK(world.restarts == 0);
    world.turn(true, seconds(2));
    world.back_end.replace(2);
    world.restart_runner();
    world.add(0, 10);
    world.sync();
    world.finish_without_repeats();
    CHECK(world.restarts == 1);
    CHECK(world.runner->status().losses == 0);
    CHECK(world.runner->status().ledger.acknowledged == 110);
}

TEST_CASE("nothing is sent to another stream while the cursor cannot be saved", "[uplink][runner]") {
    World world(1);
    world.back_end.stream = 1;
    world.start();
    world.deliver(50);
    world.turn(true, seconds(2));
    world.back_end.replace(2);
    world.restart_runner();
    world.add(0, 10);
    world.sync();
    world.disk.fail_always(std::errc::no_space_on_device);
    for (int i = 0; i < 20; ++i) {
        world.turn(true, seconds(1));
    }
    CHECK(world.back_end.stored().empty());
    world.disk.clear_faults();
    world.finish_without_repeats();
}

TEST_CASE("the lag counts what the log has, not the positions that a crash skips", "[uplink][runner]") {
    World world(1);
    world.start();
    world.add(0, 20);
    world.sync();
    world.end_process();
    world.start();
    world.add(0, 20);
    world.sync();
    world.turn(true, seconds(0));
    CHECK(world.runner->status().lag > 0);
    CHECK(world.runner->status().lag < 100);
    REQUIRE(world.finish());
    CHECK(world.runner->status().lag == 0);
}

TEST_CASE("an uplink knows at its start how old the samples are that wait", "[uplink][runner]") {
    World world(1);
    world.start();
    world.deliver(10);
    world.turn(true, seconds(2));
    world.add(0, 10);
    world.sync();
    world.restart_runner();
    world.turn(true, seconds(0));
    CHECK(world.runner->status().delivered_utc_ns == 0);
    CHECK(world.runner->status().waiting_utc_ns == store::make_sample(1, ChannelId{0}, 11).time_utc_ns);
}

TEST_CASE("the wait of samples that are not delivered is counted without their times", "[uplink][runner]") {
    World world(1);
    world.start();
    world.deliver(10);
    world.turn(true, seconds(100));
    world.runner->pause(true);
    world.add(0, 10);
    world.sync();
    const MonoTime since = world.clock.mono_now();
    world.turn(true, seconds(20));
    CHECK(world.runner->status().waiting_since == since);
    world.runner->pause(false);
    REQUIRE(world.finish());
    CHECK(world.runner->status().waiting_since > since);
}

TEST_CASE("a rewind before a change of the messages is refused with a warning unless it is confirmed",
          "[uplink][runner]") {
    World world(1);
    world.start();
    world.deliver(50);
    world.turn(true, seconds(2));
    const store::Position settled = world.runner->status().settled;
    CHECK(world.runner->status().encoded_from == 0);
    CHECK(world.runner->rewind(RewindTarget(store::Position{0})) == UplinkRunner::RewindResult::done);
    REQUIRE(world.finish());
    world.turn(true, seconds(2));
    CHECK(world.warnings == 0);
    world.encoding = 2;
    world.restart_runner();
    world.deliver(50);
    CHECK(world.runner->status().encoded_from == settled);
    CHECK(world.runner->rewind(RewindTarget(settled)) == UplinkRunner::RewindResult::done);
    CHECK(world.warnings == 0);
    CHECK(world.runner->rewind(RewindTarget(store::Position{0})) == UplinkRunner::RewindResult::stores_twice);
    CHECK(world.warnings == 1);
    CHECK_FALSE(world.runner->status().is_repeating);
    CHECK(world.runner->status().settled == settled);
    CHECK(world.runner->rewind(RewindTarget(store::Position{0}), true) == UplinkRunner::RewindResult::done);
    CHECK(world.warnings == 2);
    CHECK(world.runner->status().is_repeating);
    REQUIRE(world.finish());
    CHECK_FALSE(world.runner->status().is_repeating);
}

}  // namespace telegate::uplink
