#include "store/log_fixture.hpp"

#include <cerrno>
#include <chrono>
#include <functional>
#include <string>
#include <system_error>

namespace telegate::store {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;
constexpr hours year{8'766};

std::int64_t ns(std::chrono::nanoseconds time) {
    return time.count();
}

/// Fills some segments.
void fill(LogFixture& f, std::uint64_t segments) {
    while (f.log->status().segments < segments) {
        f.add(0, 100);
        f.sync();
    }
}

/// Lets the gateway run for a time, with a write per second.
void pass(LogFixture& f, std::chrono::seconds time) {
    for (seconds passed{0}; passed < time; passed += seconds(1)) {
        f.clock.advance(seconds(1));
        f.log->write();
    }
}

/// One run of a gateway, which stops cleanly. After a minute, it trusts its clock.
void run(LogFixture& f, std::chrono::seconds time = seconds(0)) {
    f.start();
    f.add(0, 10);
    f.sync();
    pass(f, time);
    f.log->close();
    f.model.record_sync(f.epoch);
}

/// Attempts to sync once per second. Returns whether the last attempt succeeded.
bool try_for(LogFixture& f, std::chrono::seconds time, std::chrono::seconds interval = seconds(1)) {
    bool is_synced = false;
    for (seconds passed{0}; passed < time; passed += interval) {
        f.clock.advance(interval);
        try {
            f.sync();
            is_synced = true;
        } catch (const std::system_error&) {
            is_synced = false;
        }
    }
    return is_synced;
}

}  // namespace

TEST_CASE("a size limit below the size of the open segment removes it, and the log continues", "[store][log]") {
    LogFixture f;
    f.segment_bytes = SampleLog::segment_bytes;
    f.start();
    while (f.log->status().bytes < 400'000) {
        f.add(0, 2'000);
        f.sync();
    }
    REQUIRE(f.log->status().segments == 1);
    f.log->set_limits({.bytes_max = 200'000});
    SECTION("when the next samples are written") {
        f.add(0, 10);
    }
    SECTION("while there are no samples") {}
    f.log->write();
    CHECK(f.log->status().bytes <= 200'000);
    CHECK_FALSE(f.log->status().is_full);
    for (int i = 0; i < 100; ++i) {
        f.add(0, 2'000);
        f.log->write();
        CHECK(f.log->status().bytes <= 200'000);
    }
    f.sync();
    CHECK(f.log->status().dropped_full == 0);
    CHECK(f.check() == "");
}

TEST_CASE("a full log that drops new samples does not grow by gaps", "[store][log]") {
    LogFixture f;
    const LogLimits limits = GENERATE(LogLimits{.bytes_max = 8'000, .when_full = WhenFull::drop_newest},
                                      LogLimits{.free_bytes_min = 200'000, .when_full = WhenFull::drop_newest});
    f.disk.set_capacity(300'000);
    f.log->set_limits(limits);
    while (!f.log->status().is_full) {
        f.add(0, 20);
        f.sync();
    }
    const std::uint64_t bytes = f.log->status().bytes;
    for (int i = 0; i < 1'000; ++i) {
        f.add_gap(1, 3, GapReason::queue_overflow);
        f.add(0, 1);
        f.add_gap(0, 2, GapReason::queue_overflow);
        f.sync();
    }
    CHECK(f.log->status().bytes == bytes);
    f.log->set_limits({});
    f.sync();
    f.add(1, 1);
    f.sync();
    CHECK(f.log->status().dropped_unnamed == 0);
    CHECK(f.check() == "");
    const std::vector<LogGap> gaps = f.gaps();
    REQUIRE(gaps.size() == 2);
    CHECK(gaps[1].last_seq == 3'000);
}

TEST_CASE("a run with a clock in the future does not keep later segments from being removed by age", "[store][age]") {
    LogFixture f;
    f.limits.age_max_ns = ns(hours(1));
    f.clock.step_utc(12 * year);
    run(f, seconds(62));
    f.clock.step_utc(-12 * year);
    run(f, seconds(62));
    run(f, seconds(62));
    f.start();
    f.clock.advance(hours(2));  // the gateway was off
    f.start();
    pass(f, seconds(62));
    CHECK(f.log->status().segments == 1);
}

TEST_CASE("a wrong clock for less than a minute removes nothing", "[store][age]") {
    LogFixture f;
    run(f);
    run(f);
    f.limits.age_max_ns = ns(hours(1));
    f.start();
    fill(f, 5);
    pass(f, seconds(100));
    const auto [there, back] = GENERATE(std::pair(year, -year), std::pair(-year, year), std::pair(hours(2), hours(-2)));
    f.clock.step_utc(there);
    pass(f, seconds(58));
    f.clock.step_utc(back);
    pass(f, seconds(58));
    CHECK(f.log->status().segments_removed == 0);
}

TEST_CASE("a gateway that starts with a wrong clock removes nothing by age until it is synchronized", "[store][age]") {
    LogFixture f;
    run(f);
    run(f);
    f.limits.age_max_ns = ns(hours(1));
    f.clock.step_utc(year);
    f.clock.set_synchronized(false);
    f.start();
    pass(f, minutes(50));
    f.clock.step_utc(-year);
    f.clock.set_synchronized(true);
    pass(f, minutes(5));
    CHECK(f.log->status().segments_removed == 0);
    pass(f, minutes(6));  // they are older than this run
    CHECK(f.log->status().segments == 1);
}

TEST_CASE("a clock that was behind, and was not trusted, removes nothing when it is right", "[store][age]") {
    LogFixture f;
    f.limits.age_max_ns = ns(30 * hours(24));
    const auto [is_synchronized, time] = GENERATE(std::pair(true, seconds(2)), std::pair(false, seconds(300)));
    f.clock.set_synchronized(is_synchronized);
    f.clock.step_utc(-year);
    run(f, time);
    run(f, time);
    f.clock.step_utc(year);
    f.clock.set_synchronized(true);
    f.start();
    pass(f, minutes(5));
    CHECK(f.log->status().segments_removed == 0);
}

TEST_CASE("a run before the clock was set is as old as the next run with a trusted time", "[store][age]") {
    LogFixture f;
    const std::int64_t now_ns = f.clock.utc_now_ns();
    f.clock.step_utc(-std::chrono::nanoseconds(now_ns) + hours(1));  // in 1970
    run(f);
    f.clock.step_utc(std::chrono::nanoseconds(now_ns) - hours(1));
    f.clock.advance(minutes(50));
    f.limits.age_max_ns = ns(hours(1));
    run(f);
    run(f, minutes(5));
    CHECK(f.log->status().segments_removed == 0);
    f.clock.advance(hours(1));
    f.start();
    pass(f, minutes(2));
    CHECK(f.log->status().segments == 1);
}

TEST_CASE("a run with a clock that was behind does not make earlier runs older", "[store][age]") {
    LogFixture f;
    run(f);
    f.clock.step_utc(-year);
    run(f);
    f.clock.step_utc(year);
    f.limits.age_max_ns = ns(hours(1));
    f.start();
    pass(f, minutes(5));
    CHECK(f.log->status().segments_removed == 0);
}

TEST_CASE("times of samples do not change the age of a segment", "[store][age]") {
    LogFixture f;
    const std::int64_t forged_ns = GENERATE(std::int64_t{1}, std::int64_t{4'000'000'000'000'000'000});
    for (int runs = 0; runs < 2; ++runs) {
        f.start();
        TelemetrySample sample = make_sample(f.epoch, ChannelId{0}, 1);
        sample.time_utc_ns = forged_ns;
        f.log->append(std::vector{sample});
        f.log->close();
    }
    f.limits.age_max_ns = ns(hours(1));
    run(f, minutes(5));
    CHECK(f.log->status().segments_removed == 0);
    f.clock.advance(hours(1));
    f.start();
    pass(f, minutes(2));
    CHECK(f.log->status().segments == 1);
}

TEST_CASE("segments of this run in a directory that returns age from then on", "[store][age]") {
    LogFixture f;
    f.limits.age_max_ns = ns(hours(1));
    f.start();
    f.log->write();
    f.clock.advance(hours(2));
    fill(f, 5);
    f.disk.remount();
    pass(f, minutes(5));
    CHECK(f.log->status().directories_lost == 1);
    CHECK(f.log->status().segments_removed == 0);
    CHECK(f.check() == "");
    f.clock.advance(hours(1));
    f.log->write();
    CHECK(f.log->status().segments == 1);
}

TEST_CASE("a full disk on which removing segments gives no space does not cost the history", "[store][space]") {
    LogFixture f;
    fill(f, 20);
    const std::uint64_t bytes = f.log->status().bytes;
    const int kind = GENERATE(0, 1, 2);
    CAPTURE(kind);
    if (kind == 0) {
        f.disk.fail_growth(std::error_code(EDQUOT, std::generic_category()));
    } else if (kind == 1) {
        f.disk.fail_growth(std::make_error_code(std::errc::no_space_on_device));
    } else {
        f.disk.set_capacity(f.disk.used_bytes());
        f.disk.after_freeing([&] { f.disk.set_capacity(f.disk.used_bytes()); });
    }
    f.add(0, 100);
    CHECK_FALSE(try_for(f, seconds(300)));
    CHECK(f.log->status().segments_removed_for_space > 0);
    CHECK(f.log->status().bytes > bytes - 5 * small_segment_bytes);
    CHECK(f.log->status().space_problem == SpaceProblem::no_gain);
    CHECK_FALSE(try_for(f, hours(48), minutes(5)));
    CHECK(f.log->status().bytes >= bytes / 2 - 5 * small_segment_bytes);
    f.disk.fail_growth(std::nullopt);
    f.disk.after_freeing({});
    f.disk.set_capacity(UINT64_MAX);
    CHECK(try_for(f, seconds(62)));
    CHECK(f.log->status().space_problem == SpaceProblem::none);
    CHECK(f.check() == "");
}

TEST_CASE("removals that give no space leave half of the history, however much waits to be written", "[store][space]") {
    LogFixture f;
    fill(f, 20);
    const std::uint64_t bytes = f.log->status().bytes;
    f.disk.fail_growth(std::make_error_code(std::errc::no_space_on_device));
    f.log->set_limits({.keep_from = 0});  // removed after half a minute
    for (int i = 0; i < 25; ++i) {
        f.add(0, 1'000);
        CHECK_FALSE(try_for(f, seconds(1)));
    }
    f.log->set_limits({});
    CHECK_FALSE(try_for(f, hours(48), minutes(5)));
    CHECK(f.log->status().segments_removed_for_space > 0);
    CHECK(f.log->status().bytes >= bytes / 2);
    f.disk.fail_growth(std::nullopt);
    f.sync();
    CHECK(f.check() == "");
}

TEST_CASE("a write that needs more space than the log has leaves half of the history", "[store][space]") {
    LogFixture f;
    for (int i = 0; i < 5'000; ++i) {  // a new segment may have to define all of them
        REQUIRE(f.channels.add(DeviceId{1}, "many", std::to_string(i), ""));
    }
    fill(f, 15);
    const std::uint64_t bytes = f.log->status().bytes;
    f.disk.fail_growth(std::make_error_code(std::errc::no_space_on_device));
    f.add(0, 100);
    CHECK_FALSE(try_for(f, seconds(300)));
    CHECK_FALSE(try_for(f, hours(48), minutes(5)));
    CHECK(f.log->status().segments_removed_for_space > 0);
    CHECK(f.log->status().bytes >= bytes / 2);
    f.disk.fail_growth(std::nullopt);
    f.sync();
    CHECK(f.check() == "");
}

TEST_CASE("the only segment is kept on a full disk if others take the space that the log frees", "[store][space]") {
    LogFixture f;
    f.segment_bytes = SampleLog::segment_bytes;
    f.start();
    f.add(0, 2'000);
    f.sync();
    const std::string path = "/log/" + list_segments(f.disk, "/log").front().name;
    f.disk.set_capacity(f.disk.used_bytes());
    f.disk.after_freeing([&] { f.disk.set_capacity(f.disk.used_bytes()); });
    f.add(0, 1'000);
    CHECK_FALSE(try_for(f, hours(48), minutes(5)));
    CHECK(f.disk.exists(path));
    CHECK(SegmentReader::open(f.disk, path)->end_offset() == f.disk.content(path).size());  // no part of a record
    f.disk.after_freeing({});
    f.disk.set_capacity(UINT64_MAX);
    f.sync();
    CHECK(f.disk.exists(path));
    CHECK(f.check() == "");
}

TEST_CASE("on a full disk, undelivered data is removed last", "[store][space]") {
    LogFixture f;
    fill(f, 30);
    f.disk.set_capacity(f.disk.used_bytes());
    f.add(0, 1'000);
    LogLimits limits;
    limits.keep_from = 0;
    f.log->set_limits(limits);
    CHECK_FALSE(try_for(f, seconds(29)));
    CHECK(f.log->status().segments_removed == 0);
    CHECK(f.log->status().space_problem == SpaceProblem::undelivered);
    SECTION("if it is still not delivered after half a minute") {
        CHECK(try_for(f, seconds(5)));
    }
    SECTION("immediately after it was delivered") {
        limits.keep_from = position_max;
        f.log->set_limits(limits);
        f.sync();
    }
    CHECK(f.log->status().segments_removed > 0);
    CHECK(f.check() == "");
}

TEST_CASE("a lack of space that has ended does not make the next one remove undelivered data sooner",
          "[store][space]") {
    LogFixture f;
    fill(f, 30);
    f.log->set_limits({.keep_from = 0});
    const auto fill_disk = [&] {
        f.disk.set_capacity(f.disk.used_bytes());
        f.add(0, 1'000);
    };
    fill_disk();
    CHECK_FALSE(try_for(f, seconds(10)));
    f.disk.set_capacity(UINT64_MAX);
    CHECK(try_for(f, seconds(1)));
    f.clock.advance(hours(5));
    fill_disk();
    CHECK_FALSE(try_for(f, seconds(29)));
    CHECK(f.log->status().segments_removed == 0);
    CHECK(try_for(f, seconds(5)));
    CHECK(f.log->status().segments_removed > 0);
    CHECK(f.check() == "");
}

TEST_CASE("another process that takes the free space costs a part of the history", "[store][space]") {
    LogFixture f;
    fill(f, 40);
    const std::uint64_t bytes = f.log->status().bytes;
    f.log->set_limits({.free_bytes_min = 3 * small_segment_bytes});
    const auto take_all = [&] {
        f.disk.set_capacity(f.disk.used_bytes() + 600);  // enough for a block
    };
    for (int i = 0; i < 200; ++i) {
        take_all();
        f.add(0, 5);
        static_cast<void>(try_for(f, seconds(1)));
    }
    CHECK(f.log->status().segments_removed > 0);
    CHECK(f.log->status().bytes > bytes / 2);
    f.disk.set_capacity(UINT64_MAX);
    f.sync();
    CHECK(f.check() == "");
}

TEST_CASE("a demand for free space that the whole log could not meet removes nothing", "[store][space]") {
    LogFixture f;
    fill(f, 10);
    f.disk.set_capacity(f.disk.used_bytes() + 100'000);
    f.log->set_limits({.free_bytes_min = 1'000'000});
    f.add(0, 10);
    f.sync();
    CHECK(f.log->status().segments_removed == 0);
    CHECK(f.log->status().is_full);
}

TEST_CASE("a demand for free space that segments take up is met", "[store][space]") {
    LogFixture f;
    fill(f, 30);
    f.disk.set_capacity(f.disk.used_bytes() + 10'000);
    f.log->set_limits({.free_bytes_min = 50'000});
    f.add(0, 10);
    f.sync();
    CHECK(f.disk.free_bytes("/log") >= 50'000);
    CHECK_FALSE(f.log->status().is_full);
    CHECK(f.check() == "");
}

}  // namespace telegate::store
