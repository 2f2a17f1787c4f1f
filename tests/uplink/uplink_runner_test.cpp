#include "support/catch.hpp"
#include "uplink/uplink_world.hpp"

#include <chrono>
#include <string>

namespace telegate::uplink {
using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_CASE("samples and gaps are delivered in order, once", "[uplink][runner]") {
    World world(1);
    world.start();
    for (int i = 0; i < 20; ++i) {
        world.add(0, 10);
        world.add_gap(1, 3);
        world.add(1, 5);
        world.sync();
    }
    world.finish_without_repeats();
    for (const auto& [key, received] : consume(world.back_end.stored())) {
        CHECK(received.inversions == 0);
    }
    const UplinkStatus status = world.runner->status();
    CHECK(status.is_connected);
    CHECK(status.ledger.acknowledged == 300);
    CHECK(status.ledger.gaps == 60);
    CHECK(status.counts.resent == 0);
}

TEST_CASE("nothing is delivered that is not synced", "[uplink][runner]") {
    World world(1);
    world.start();
    world.add(0, 10);
    world.log->sync();
    world.add(0, 10);
    world.log->write();
    world.runner->log_synced(world.log->status().synced);
    for (int i = 0; i < 100; ++i) {
        world.turn(true, seconds(1));
    }
    CHECK(world.runner->status().ledger.acknowledged == 10);
    CHECK_FALSE(world.runner->status().is_behind);
    world.sync();
    REQUIRE(world.finish());
    CHECK(world.runner->status().ledger.acknowledged == 20);
}

TEST_CASE("delivery continues where the last process saved its cursor", "[uplink][runner]") {
    World world(1);
    world.start();
    world.deliver(100);
    world.runner->stop();
    world.end_process();
    world.start();
    world.deliver(50);
    CHECK(world.runner->status().ledger.read == 50);
    CHECK(world.check_complete() == 0);
    CHECK(world.restarts == 0);
}

TEST_CASE("samples that retention has removed before their delivery are reported as missing", "[uplink][runner]") {
    World world(1);
    world.limits.bytes_max = 20'000;
    world.start();
    for (int i = 0; i < 300; ++i) {
        world.add(static_cast<std::size_t>(i) % 3, 200);
        world.sync();
    }
    REQUIRE(world.log->status().segments_removed > 0);
    world.finish_without_repeats();
    CHECK(world.runner->status().ledger.gaps > 0);
}

TEST_CASE("an uplink waits for data that the disk cannot read at present, and then delivers it", "[uplink][runner]") {
    World world(1);
    world.passes_on = GENERATE(false, true);
    world.start();
    for (int i = 0; i < 60; ++i) {
        world.add(0, 20);
        world.add(1, 10);
        world.sync();
    }
    const auto segments = store::list_segments(world.disk, "/log");
    REQUIRE(segments.size() > 3);
    const std::string path = "/log/" + segments[GENERATE(std::size_t{0}, std::size_t{2})].name;
    const std::uint64_t bytes = world.disk.content(path).size();
    const std::uint64_t at = GENERATE_COPY(std::uint64_t{0}, bytes / 2, bytes - 8);
    CAPTURE(path, bytes, at);
    world.disk.make_unreadable(path, at, at + 8);
    world.restart_runner();  // without what the first one has read
    for (int i = 0; i < 100; ++i) {
        world.turn(true, seconds(1));
    }
    CHECK(world.runner->status().is_behind);
    CHECK(world.runner->status().error.find("simulated disk") != std::string::npos);
    world.disk.make_unreadable(path, 0, 0);
    world.finish_without_repeats();
    for (const auto& [key, received] : consume(world.back_end.stored())) {
        CHECK(received.missing.empty());
    }
}

TEST_CASE("a cursor that cannot be saved is reported and saved later", "[uplink][runner]") {
    World world(1);
    world.start();
    world.add(0, 10);
    world.sync();
    world.disk.fail_always(std::errc::no_space_on_device);
    for (int i = 0; i < 100; ++i) {
        world.turn(true, seconds(1));
    }
    CHECK_FALSE(world.runner->status().cursor_error.empty());
    world.disk.clear_faults();
    REQUIRE(world.finish());
    world.turn(true, seconds(2));
    CHECK(world.runner->status().cursor_error.empty());
    CHECK(CursorFile(world.disk, "/log", "cloud").read()->position == world.runner->status().settled);
}

namespace {

/// Makes the back end refuse messages with these samples of channel "a" in the first epoch.
void refuse_samples(World& world, std::set<std::uint64_t> seqs) {
    world.back_end.refuse = [seqs = std::move(seqs)](const std::string& payload) {
        std::istringstream lines(payload);
        for (std::string line; std::getline(lines, line);) {
            if (line.starts_with("1 a ") && std::count(line.begin(), line.end(), ' ') == 2 &&
                seqs.contains(std::stoull(line.substr(4)))) {
                return true;
            }
        }
        return false;
    };
}

}  // namespace

TEST_CASE("a refused sample moves to the quarantine and becomes a gap, and delivery continues", "[uplink][runner]") {
    World world(1);
    refuse_samples(world, {3, 40, 41});
    world.start();
    for (int i = 0; i < 10; ++i) {
        world.add(0, 10);
        world.add_gap(1, 3);
        world.add(1, 5);
        world.sync();
    }
    world.finish_without_repeats();
    const auto received = consume(world.back_end.stored());
    CHECK(received.at({1, "a"}).missing == std::set<std::uint64_t>{3, 40, 41});
    const UplinkStatus status = world.runner->status();
    CHECK(status.ledger.quarantined == 3);
    CHECK(status.ledger.acknowledged == 147);
    CHECK(status.ledger.gaps == 30);
    REQUIRE(world.runner->quarantined().size() == 3);
    const QuarantinedSample& first = world.runner->quarantined().front();
    CHECK(first.topic == "device/a");
    CHECK(first.seq == 3);
    CHECK(first.reason == "bad content");
    CHECK(first.message.payload == "1 a 3\n");
}

TEST_CASE("a message that is stored before the one before it is divided is not lost", "[uplink][runner]") {
    World world(1);
    refuse_samples(world, {13});
    world.start();
    for (const std::uint64_t count : {10U, 20U}) {
        world.deliver(count);
    }
    CHECK(world.check_complete() == 0);
    CHECK(world.runner->status().counts.duplicates > 0);
    CHECK(world.runner->status().losses == 0);
}

TEST_CASE("a quarantined sample stays named after a restart and a rewind", "[uplink][runner]") {
    World world(1);
    refuse_samples(world, {3});
    world.start();
    world.deliver(10);
    const auto stored = world.back_end.stored();
    const std::uint64_t refused = world.runner->status().counts.refused;
    CHECK(refused > 0);
    world.restart_runner();
    REQUIRE(world.runner->rewind(RewindTarget(store::Position{0})) == UplinkRunner::RewindResult::done);
    REQUIRE(world.finish());
    CHECK(world.back_end.stored() == stored);
    CHECK(world.runner->status().counts.refused == 0);
    CHECK(world.runner->status().counts.duplicates > 0);
    CHECK(world.runner->status().quarantined == 1);
}

TEST_CASE("a gap notice that the back end never stores does not stop the delivery", "[uplink][runner]") {
    World world(1);
    world.back_end.refuse = [](const std::string& payload) {
        return payload.find(" 50\n") != std::string::npos || payload.find(" 50 ") != std::string::npos;
    };
    world.start();
    world.add(0, 100);
    world.sync();
    REQUIRE(world.finish());
    CHECK(world.runner->status().quarantined == 1);
    CHECK(world.runner->status().ledger.balanced());
    CHECK(consume(world.back_end.stored()).begin()->second.samples.size() == 99);
}

TEST_CASE("a gap of the log that the back end never stores does not stop the delivery", "[uplink][runner]") {
    World world(1);
    world.back_end.refuse = [](const std::string& payload) {
        return payload.find(" 11 20") != std::string::npos;
    };
    world.start();
    world.add(0, 10);
    world.add_gap(0, 10);
    world.add(0, 10);
    world.sync();
    REQUIRE(world.finish());
    CHECK(world.runner->status().quarantined == 0);
    CHECK(world.runner->status().counts.refused < 20);
    CHECK(consume(world.back_end.stored()).begin()->second.samples.size() == 20);
}

TEST_CASE("quarantined samples are sent again on request, and stay if they are refused again", "[uplink][runner]") {
    World world(1);
    refuse_samples(world, {3, 7});
    world.start();
    world.deliver(10);
    refuse_samples(world, {7});
    world.runner->retry_quarantined();
    REQUIRE(world.finish());
    CHECK(consume(world.back_end.stored()).at({1, "a"}).samples.contains(3));
    CHECK(world.runner->status().quarantined == 1);
    CHECK(world.runner->status().ledger.balanced());
    world.turn(true, seconds(2));
    world.restart_runner();
    REQUIRE(world.runner->quarantined().size() == 1);
    CHECK(world.runner->quarantined().front().message.format == "lines");  // whatever the settings are now
    world.runner->clear_quarantine();
    world.restart_runner();
    CHECK(world.runner->quarantined().empty());
}

TEST_CASE("while the quarantine is full, a refused sample is sent again", "[uplink][runner]") {
    World world(1);
    world.start();
    world.back_end.refuse = [](const std::string& payload) {
        return payload.find("log_slow") == std::string::npos && payload.find("refused") == std::string::npos;
    };
    world.add(0, 30);
    world.sync();
    CHECK_FALSE(world.finish());
    CHECK(world.runner->status().quarantined == 10);
    CHECK(world.runner->status().is_behind);
    world.back_end.refuse = {};
    world.finish_without_repeats();
}

TEST_CASE("a message that is too large is delivered in parts", "[uplink][runner]") {
    World world(1);
    world.back_end.payload_bytes_max = 15;  // two lines
    world.start();
    world.deliver(40);
    CHECK(world.check_complete() == 0);
    CHECK(world.runner->status().ledger.acknowledged == 40);
    CHECK(world.runner->status().quarantined == 0);
}

TEST_CASE("a paused uplink sends nothing, also after a restart, until it is resumed", "[uplink][runner]") {
    World world(1);
    world.start();
    world.runner->pause(true);
    world.add(0, 10);
    world.sync();
    for (int restart = 0; restart < 2; ++restart) {
        for (int i = 0; i < 20; ++i) {
            world.turn(true, seconds(1));
        }
        CHECK(world.runner->status().is_paused);
        CHECK(world.runner->status().is_connected);
        CHECK(world.runner->status().counts.sent == 0);
        world.restart_runner();
    }
    world.runner->pause(false);
    world.finish_without_repeats();
    world.restart_runner();
    CHECK_FALSE(world.runner->status().is_paused);
}

TEST_CASE("the log is kept until ack_grace after the delivery was saved", "[uplink][runner]") {
    World world(1);
    world.start();
    world.deliver(100);
    world.turn(true, seconds(2));
    const store::Position end = world.runner->status().settled;
    CHECK(world.runner->keep_from() == 0);
    world.turn(true, seconds(301));
    CHECK(world.runner->keep_from() == end);
    (void)world.runner->rewind(RewindTarget(store::Position{0}));
    CHECK(world.runner->keep_from() == 0);
    REQUIRE(world.finish());
    world.turn(true, seconds(2));
    world.restart_runner();
    CHECK(world.runner->keep_from() == 0);
    world.turn(true, seconds(301));
    CHECK(world.runner->keep_from() == end);
}

TEST_CASE("rate_max limits the samples per second", "[uplink][runner]") {
    World world(1);
    world.rates = {.samples_max = 100};
    world.start();
    world.add(0, 1'000);
    world.sync();
    for (int i = 0; i < 500; ++i) {  // 5 s
        world.turn(true, milliseconds(10));
    }
    const std::size_t stored = world.back_end.stored().size() * lines_max;
    CHECK(stored > 300);
    CHECK(stored < 650);
    world.finish_without_repeats();
}

TEST_CASE("catch_up limits the backlog to a multiple of the live rate", "[uplink][runner]") {
    World world(1);
    world.rates = {.catch_up = 3};
    world.start();
    world.add(0, 100'000);
    world.sync();
    const auto run_for = [&](int count) {
        for (int i = 0; i < count * 100; ++i) {  // count seconds
            if (i % 100 == 0) {
                world.add(1, 1'000);
                world.sync();
            }
            for (int step = 0; step < 8; ++step) {
                world.turn(true, milliseconds(step == 0 ? 10 : 0));
            }
        }
    };
    run_for(30);
    CHECK(world.runner->status().is_behind);
    const auto left = world.runner->status().catch_up_time;
    REQUIRE(left);
    CHECK(*left < seconds(200));
    const std::size_t before = world.back_end.stored().size();
    run_for(10);
    const std::size_t sent = (world.back_end.stored().size() - before) * lines_max;
    CHECK(sent > 24'000);
    CHECK(sent < 36'000);
}

TEST_CASE("a rewind that cannot be saved changes nothing", "[uplink][runner]") {
    World world(1);
    world.start();
    world.deliver(10);
    const store::Position end = world.runner->status().settled;
    world.disk.fail_always(std::errc::no_space_on_device);
    CHECK_THROWS_AS(world.runner->rewind(RewindTarget(store::Position{0})), std::system_error);
    CHECK_THROWS_AS(world.runner->pause(true), std::system_error);
    CHECK(world.runner->status().settled == end);
    CHECK_FALSE(world.runner->status().is_paused);
}

namespace {

/// Delivers 100 samples, and logs 3,000 while the uplink is not served for a minute.
void make_outage(World& world) {
    world.order = UplinkRunner::Order::live_first;
    world.rates = {.samples_max = 200};
    world.start();
    world.deliver(100);
    world.runner->pause(true);
    for (int i = 0; i < 60; ++i) {
        world.add(0, 50);
        world.sync();
        world.turn(true, seconds(1));
    }
}

/// The numbers of the samples of channel "a" in the first epoch, in the order in which they were stored.
std::vector<std::uint64_t> seqs_of(const std::vector<std::string>& payloads) {
    std::vector<std::uint64_t> seqs;
    for (const std::string& payload : payloads) {
        std::istringstream lines(payload);
        for (std::string line; std::getline(lines, line);) {
            seqs.push_back(std::stoull(line.substr(4)));
        }
    }
    return seqs;
}

std::vector<std::uint64_t> numbers(std::uint64_t first, std::uint64_t last) {
    std::vector<std::uint64_t> all;
    for (; first <= last; ++first) {
        all.push_back(first);
    }
    return all;
}

}  // namespace

TEST_CASE("with live_first, new samples are at most a second late while a backlog is delivered", "[uplink][runner]") {
    World world(1);
    make_outage(world);
    world.runner->pause(false);
    CHECK(world.runner->status().backlog > 2'900);
    std::size_t live_seconds = 0;
    for (; world.runner->status().has_backlog; ++live_seconds) {
        world.add(0, 50);
        world.sync();
        const std::uint64_t last = world.seqs[0];
        for (int i = 0; i < 100; ++i) {  // a second
            for (int step = 0; step < 4; ++step) {
                world.turn(true, milliseconds(step == 0 ? 10 : 0));
                REQUIRE(world.adapter->in_flight() <= World::messages_max);
            }
        }
        REQUIRE_FALSE(world.runner->status().is_behind);
        REQUIRE(seqs_of(world.back_end.stored(false)).back() == last);
        REQUIRE(world.runner->status().ledger.balanced());
    }
    CHECK(live_seconds > 15);  // the rate leaves 150 per second
    CHECK(live_seconds < 25);
    world.finish_without_repeats();
    CHECK(seqs_of(world.back_end.stored(true)) == numbers(101, 3'100));
    CHECK(world.runner->status().counts.duplicates == 0);
    CHECK(world.runner->status().lag == 0);
    CHECK(world.runner->status().ledger.returned <= 8 * lines_max);  // read before the outage ended
}

TEST_CASE("a backlog continues after a restart where it was, with either order", "[uplink][runner]") {
    World world(1);
    make_outage(world);
    const auto order = GENERATE(UplinkRunner::Order::strict, UplinkRunner::Order::live_first);
    world.runner->pause(false);
    for (int i = 0; i < 500; ++i) {  // 5 s
        world.turn(true, milliseconds(10));
    }
    const UplinkStatus before = world.runner->status();
    REQUIRE(before.backlog > 1'000);
    REQUIRE(before.backlog < 2'500);
    world.runner->stop();
    world.runner.reset();
    world.order = order;
    world.start_runner();
    world.add(0, 20);
    world.sync();
    CHECK(world.runner->status().backlog == before.backlog);
    world.finish_without_repeats();
    CHECK(world.runner->status().counts.duplicates <= 8);  // messages that were in flight
    CHECK(seqs_of(world.back_end.stored(true)) == numbers(101, 3'100));
    const auto all = seqs_of(world.back_end.stored());
    CHECK((all.back() == 3'120) == (order == UplinkRunner::Order::strict));
}

TEST_CASE("with live_first, samples older than ten seconds become a backlog at the start", "[uplink][runner]") {
    World world(1);
    world.start();
    world.runner->pause(true);
    world.add(0, 100);
    world.sync();
    const auto age = GENERATE(seconds(5), seconds(15));
    world.clock.step_utc(age - std::chrono::nanoseconds(world.clock.utc_now_ns()));
    world.runner.reset();
    world.order = UplinkRunner::Order::live_first;
    world.start_runner();
    world.runner->pause(false);
    world.finish_without_repeats();
    CHECK(world.back_end.stored(false).empty() == (age == seconds(15)));
}

TEST_CASE("samples of a backlog that retention has removed are reported as missing", "[uplink][runner]") {
    World world(1);
    world.order = UplinkRunner::Order::live_first;
    world.rates = {.samples_max = 100};
    world.limits.bytes_max = 20'000;
    world.start();
    for (int i = 0; i < 300; ++i) {
        world.add(static_cast<std::size_t>(i) % 3, 200);
        world.sync();
        world.turn(true, seconds(1));
    }
    REQUIRE(world.log->status().segments_removed > 0);
    world.finish_without_repeats();
    CHECK(world.runner->status().ledger.gaps > 0);
    CHECK(world.runner->status().ledger.balanced());
}

TEST_CASE("a backlog that retention has removed is reported as missing, also if it ended with a segment",
          "[uplink][runner]") {
    const int blocks = GENERATE(range(1, 13));
    World world(1);
    world.limits.bytes_max = 20'000;
    world.start();
    world.runner->pause(true);
    for (int i = 0; i < blocks; ++i) {
        world.add(static_cast<std::size_t>(i) % 3, 200);
        world.sync();
    }
    const store::Position end = world.log->status().synced;
    world.clock.step_utc(seconds(15) - std::chrono::nanoseconds(world.clock.utc_now_ns()));
    world.runner.reset();
    world.order = UplinkRunner::Order::live_first;
    world.start_runner();
    world.runner->pause(false);
    while (!world.runner->status().has_backlog) {
        world.turn(true, milliseconds(1));
    }
    world.runner->pause(true);
    while (world.log->status().oldest < end) {
        world.add(0, 200);
        world.sync();
    }
    world.runner->pause(false);
    world.finish_without_repeats();
}

TEST_CASE("with live_first, samples that are delivered again after a rewind are historical", "[uplink][runner]") {
    World world(1);
    world.order = UplinkRunner::Order::live_first;
    world.start();
    for (int i = 0; i < 10; ++i) {
        world.add(0, 10);
        world.sync();
    }
    REQUIRE(world.finish());
    const store::Position end = world.runner->status().settled;
    world.back_end.lose_last(6);
    REQUIRE(world.runner->rewind(RewindTarget(store::Position{0})) == UplinkRunner::RewindResult::done);
    CHECK(world.runner->status().settled == 0);
    CHECK(world.runner->status().backlog == end);
    CHECK(world.runner->keep_from() == 0);
    world.deliver(10);
    CHECK(world.check_complete() == 0);
    CHECK(seqs_of(world.back_end.stored(false)).back() == 110);
    CHECK(world.back_end.stored(true).size() == 6);
}

TEST_CASE("a refused sample of the backlog does not delay new samples", "[uplink][runner]") {
    World world(1);
    make_outage(world);
    refuse_samples(world, {150});
    world.restart_runner();
    world.runner->pause(false);
    for (int i = 0; i < 20; ++i) {
        world.add(0, 10);
        world.sync();
        for (int step = 0; step < 100; ++step) {
            world.turn(true, milliseconds(10));
        }
        if (i > 5) {
            REQUIRE(seqs_of(world.back_end.stored(false)).back() == world.seqs[0]);
        }
    }
    world.finish_without_repeats();
    CHECK(world.runner->status().ledger.quarantined == 1);
}

}  // namespace telegate::uplink
