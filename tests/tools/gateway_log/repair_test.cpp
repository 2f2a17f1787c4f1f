#include "log_fixture.hpp"
#include "store/segment_reader.hpp"

#include <algorithm>
#include <system_error>

namespace telegate::log_tool::test {

TEST_CASE("a repair seals the last segment and removes a torn record", "[gateway_log][repair]") {
    LogFixture f;
    f.start();
    f.add(0, 10);
    f.add(0, 10);
    f.kill();
    CHECK(f.run({"list", "/log"}).has("open\n"));
    f.content(0).resize(f.content(0).size() - 8);
    const Outcome outcome = f.run({"repair", "/log"});
    CHECK(outcome.code == exit_code::ok);
    CHECK(outcome.has("sealed " + f.segments()[0] + ", and "));
    CHECK(outcome.has(" unreadable bytes at its end removed\n"));
    CHECK(f.run({"list", "/log"}).has("sealed\n"));
    CHECK(f.run({"verify", "/log"}).last_line() == "log complete: 10 samples and 0 explained gaps in 1 epoch");
    CHECK(f.run({"repair", "/log"}).out == "nothing to repair\n");
}

TEST_CASE("a repair rebuilds a footer that is missing in the middle", "[gateway_log][repair]") {
    LogFixture f;
    f.segment_bytes = 1'000;
    f.start();
    for (int i = 0; i < 40; ++i) {
        f.add(0, 10);
        f.log->sync();
    }
    f.stop();
    REQUIRE(f.segments().size() > 3);
    const Outcome whole = f.run({"dump", "/log"});
    f.content(1).resize(f.content(1).size() - 4);
    CHECK(f.run({"list", "/log"}).has("damaged\n"));
    CHECK(f.run({"repair", "/log"}).has("rebuilt the footer of " + f.segments()[1]));
    CHECK_FALSE(f.run({"list", "/log"}).has("damaged\n"));
    CHECK(f.run({"dump", "/log"}).out == whole.out);
}

TEST_CASE("a log that a gateway is using is not repaired", "[gateway_log][repair]") {
    LogFixture f;
    f.start();
    f.add(0, 10);
    const Outcome outcome = f.run({"repair", "/log"});
    CHECK(outcome.code == exit_code::in_use);
    CHECK(outcome.errors == "gateway_log: a gateway is using the log in /log: stop it first\n");
}

TEST_CASE("after a repair, the gateway still names what a crash has lost", "[gateway_log][repair]") {
    LogFixture f;
    f.start();
    f.add(0, 10);
    f.kill();
    REQUIRE(f.run({"repair", "/log"}).code == exit_code::ok);
    f.start([](std::int64_t) { return store::LastSeqs{{"dev/a", 14}, {"dev/b", 2}}; });
    f.add(0, 1);
    f.stop();
    const Outcome outcome = f.run({"verify", "/log"});
    CHECK(outcome.has("  dev/a: missing 11..14 (crash)\n  dev/b: missing 1..2 (crash)\n"));
    CHECK(outcome.last_line() == "log complete: 11 samples and 2 explained gaps in 2 epochs");
}

TEST_CASE("after a repair, no position of a renamed segment is used again", "[gateway_log][repair]") {
    LogFixture f;
    f.start();
    f.add(0, 10);
    f.stop();
    f.start();
    f.add(0, 500);
    f.stop();
    const store::Position end = store::SegmentReader::open(f.disk, "/log/" + f.segments()[1])->index().end_position;
    std::fill(f.content(1).begin(), f.content(1).end(), std::byte{1});
    const std::string renamed = f.segments()[1];
    REQUIRE(f.run({"repair", "/log"}).has("renamed " + renamed));
    f.start();
    f.add(0, 1);
    f.stop();
    REQUIRE(f.segments().size() == 2);
    CHECK(store::parse_segment_name(f.segments()[1]).value() >= end);
}

TEST_CASE("a log that cannot be written is not reported as repaired", "[gateway_log][repair]") {
    LogFixture f;
    f.start();
    f.add(0, 10);
    f.kill();
    for (std::uint64_t call = 1; call < 40; ++call) {
        f.disk.fail_at(call, std::errc::read_only_file_system);
        const Outcome outcome = f.run({"repair", "/log"});
        f.disk.clear_faults();
        CAPTURE(call, outcome.out, outcome.errors);
        if (outcome.code != exit_code::ok) {
            CHECK(outcome.errors.find("gateway_log: ") == 0);
        }
        REQUIRE(f.run({"verify", "/log"}).last_line() == "log complete: 10 samples and 0 explained gaps in 1 epoch");
    }
    CHECK(f.run({"repair", "/log"}).out == "nothing to repair\n");
}

}  // namespace telegate::log_tool::test
