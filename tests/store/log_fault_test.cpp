#include "store/log_fixture.hpp"

#include <chrono>
#include <cstdint>
#include <system_error>

namespace telegate::store {
namespace {

/// Repeats a step that may fail once.
template <class Step>
void retry(LogFixture& f, const Step& step) {
    try {
        step();
    } catch (const std::system_error&) {
        f.clock.advance(std::chrono::seconds(1));
        step();
    }
}

/// Two runs, the first of which is killed, with several segments of which the oldest are removed.
void live_with_retries(LogFixture& f) {
    f.limits.bytes_max = 12'000;
    for (int run = 0; run < 2; ++run) {
        retry(f, [&] { f.start(); });
        for (int i = 0; i < 6; ++i) {
            f.add(0, 60);
            retry(f, [&] { f.mark({{0, f.seqs[0]}, {1, f.seqs[1]}}); });
            retry(f, [&] { f.log->write(); });
            f.add_gap(1, 2, GapReason::queue_overflow);
            f.add(1, 30);
            retry(f, [&] { f.sync(); });
        }
    }
    retry(f, [&] { f.log->close(); });
    f.model.record_sync(f.epoch);
}

/// Calls `attempt` with the number of a call that is to fail, until it returns that there are not so many calls.
template <class Attempt>
void for_each_call(const Attempt& attempt) {
    std::uint64_t call = 1;
    while (attempt(call)) {
        ++call;
    }
    CHECK(call > 5);
}

/// A log whose newest segment has only data that is not synced.
void write_new_segment(LogFixture& f) {
    f.sync();
    while (f.log->status().segments < 2) {
        f.add(0, 100);
        f.log->write();
    }
}

}  // namespace

TEST_CASE("after any single failure of the disk, the log continues and names each loss", "[store][fault]") {
    const std::errc error = GENERATE(std::errc::io_error, std::errc::no_space_on_device);
    for_each_call([&](std::uint64_t call) {
        CAPTURE(call);
        LogFixture f;
        const std::uint64_t before = f.disk.calls();
        f.disk.fail_at(call, error);
        live_with_retries(f);
        const bool has_failed = f.disk.calls() - before >= call;
        f.disk.clear_faults();
        CHECK(f.check() == "");
        for (const LogGap& gap : f.gaps()) {
            CHECK((gap.reason == GapReason::queue_overflow || gap.reason == GapReason::retention));
        }
        CHECK(f.log->recovery().renamed.empty());
        return has_failed;
    });
}

TEST_CASE("after a failed sync, any further failure delays the log only until the next attempt", "[store][fault]") {
    for_each_call([&](std::uint64_t call) {
        CAPTURE(call);
        LogFixture f;
        write_new_segment(f);
        f.disk.fail_at(1, std::errc::io_error);
        CHECK_THROWS_AS(f.log->sync(), std::system_error);
        const std::uint64_t before = f.disk.calls();
        f.disk.fail_at(call, std::errc::io_error);
        retry(f, [&] { f.sync(); });
        const bool has_failed = f.disk.calls() - before >= call;
        f.disk.clear_faults();
        f.add(1, 10);
        f.sync();
        f.disk.crash();
        CHECK(f.check() == "");
        CHECK(f.gaps().empty());
        return has_failed;
    });
}

TEST_CASE("a newest segment that somebody removes is written again", "[store][fault]") {
    LogFixture f;
    write_new_segment(f);
    f.disk.fail_at(1, std::errc::io_error);
    CHECK_THROWS_AS(f.log->sync(), std::system_error);
    f.disk.drop("/log/" + list_segments(f.disk, "/log").back().name);
    f.sync();
    CHECK(f.check() == "");
    CHECK(f.gaps().empty());
}

TEST_CASE("data that a start counts as synced survives a power failure, whatever fails", "[store][fault]") {
    for_each_call([&](std::uint64_t call) {
        CAPTURE(call);
        LogFixture f;
        f.add(0, 10);
        f.sync();
        f.add(0, 100);
        f.log->write();
        const Position end = f.log->status().next;
        f.log.reset();  // the process is killed
        const std::int64_t killed = f.epoch;
        const std::uint64_t before = f.disk.calls();
        f.disk.fail_at(call, std::errc::io_error);
        retry(f, [&] { f.start(); });
        const bool has_failed = f.disk.calls() - before >= call;
        f.disk.clear_faults();
        if (f.log->status().synced >= end) {
            f.model.record_sync(killed);
        }
        f.disk.crash();
        CHECK(f.check() == "");
        return has_failed;
    });
}

TEST_CASE("a segment counts as renamed only if it was", "[store][fault]") {
    for_each_call([&](std::uint64_t call) {
        CAPTURE(call);
        LogFixture f;
        f.sync();
        f.log->close();
        f.model.record_sync(f.epoch);
        const std::string path = "/log/" + list_segments(f.disk, "/log").front().name;
        f.disk.content(path).assign(f.disk.content(path).size(), std::byte{1});
        const std::uint64_t before = f.disk.calls();
        f.disk.fail_at(call, std::errc::io_error);
        retry(f, [&] { f.start(); });
        const bool is_renamed = f.disk.exists(path + ".damaged");
        CHECK(f.log->recovery().renamed.size() == (is_renamed ? 1 : 0));
        CHECK(f.log->recovery().left.size() == (is_renamed ? 0 : 1));
        CHECK(f.disk.exists(path) != is_renamed);
        return f.disk.calls() - before >= call;
    });
}

}  // namespace telegate::store
