#include "gateway/durable/log_harness.hpp"
#include "support/catch.hpp"

#include <filesystem>
#include <string>

using namespace telegate;
using namespace telegate::test;
using store::GapReason;

namespace {

using Gaps = std::vector<ReadLog::Gap>;

/// Starts a log whose disk stalls while it writes a sample of `bench.c`.
std::unique_ptr<DurableLog> start_stalled(LogBench& bench) {
    auto log = bench.start();
    log->consume(LogBench::samples(bench.c, 1, 1));
    REQUIRE(eventually([&] {  // then its thread sleeps
        const store::LogStatus now = log->status().log;
        return now.samples == 1 && now.synced == now.next;
    }));
    bench.disk.block(true);
    log->consume(LogBench::samples(bench.c, 2, 1));
    REQUIRE(eventually([&] { return bench.disk.is_waiting(); }));
    return log;
}

}  // namespace

TEST_CASE("a stalled disk costs samples, never time, and the log says which", "[gateway][durable]") {
    LogBench bench;
    const auto log = start_stalled(bench);
    constexpr std::uint64_t count = LogBuffer::entries_max;
    log->consume(LogBench::samples(bench.a, 1, count - 10));
    log->consume(LogBench::samples(bench.b, 1, 25));
    log->gap({bench.a, count - 9, count, DropReason::queue_overflow});
    log->consume(LogBench::samples(bench.a, count + 1, 5));
    CHECK(log->status().lost == 20);
    CHECK(log->status().pending == count + 1);
    bench.disk.block(false);
    CHECK(eventually([&] { return log->status().log.samples == count + 2; }));
    log->consume(LogBench::samples(bench.a, count + 6, 1));
    log->close();
    const ReadLog read = bench.read();
    CHECK(read.gaps == Gaps{{"d/b", 11, 25, GapReason::log_slow}, {"d/a", count - 9, count + 5, GapReason::log_slow}});
    CHECK(read.is_whole("d/a", count + 6));
    CHECK(read.is_whole("d/b", 25));
}

TEST_CASE("each loss is reported separately", "[gateway][durable]") {
    LogBench bench;
    const auto log = bench.start();
    std::uint64_t next = 1;
    for (int time = 0; time < 3; ++time) {
        bench.disk.block(true);
        log->consume(LogBench::samples(bench.a, next, 1));
        CHECK(eventually([&] { return bench.disk.is_waiting(); }));
        log->consume(LogBench::samples(bench.a, next + 1, LogBuffer::entries_max + 3));
        next += LogBuffer::entries_max + 4;
        bench.disk.block(false);
        CHECK(eventually([&] { return log->status().pending == 0; }));
    }
    log->close();
    const ReadLog read = bench.read();
    CHECK(log->status().lost >= 9);
    CHECK(log->status().lost + read.samples.size() == next - 1);
    CHECK(read.gaps.size() == 3);
    CHECK(read.is_whole("d/a", next - 1));
}

TEST_CASE("gaps beyond the limit of the buffer are reported as lost", "[gateway][durable]") {
    LogBench bench;
    const auto log = start_stalled(bench);
    for (std::uint64_t seq = 1; seq <= LogBuffer::entries_max + 10; ++seq) {
        log->gap({bench.a, seq, seq, DropReason::queue_overflow});
    }
    bench.disk.block(false);
    log->close();
    const ReadLog read = bench.read();
    CHECK(read.gaps.size() == LogBuffer::entries_max + 1);
    CHECK(read.is_whole("d/a", LogBuffer::entries_max + 10));
}

TEST_CASE("any number of gaps between samples is logged in order while the disk stalls", "[gateway][durable]") {
    LogBench bench;
    const auto log = start_stalled(bench);
    constexpr std::uint64_t pairs = LogBuffer::entries_max / 2 + 5'000;
    for (std::uint64_t seq = 1; seq <= 2 * pairs; seq += 2) {
        log->gap({bench.a, seq, seq, DropReason::queue_overflow});
        log->consume(LogBench::samples(bench.a, seq + 1, 1));
    }
    bench.disk.block(false);
    log->close();
    const ReadLog read = bench.read();
    CHECK(read.samples.size() == LogBuffer::entries_max / 2 + 2);
    CHECK(log->status().lost == 5'000);
    CHECK(read.is_whole("d/a", 2 * pairs));
}

TEST_CASE("a failing disk is retried, and nothing that fits in the buffer is lost", "[gateway][durable]") {
    LogBench bench;
    bench.disk.fail(true);
    const auto log = bench.start();
    CHECK(eventually([&] { return log->status().error.find("the disk") != std::string::npos; }));
    log->consume(LogBench::samples(bench.a, 1, 1'000));
    bench.disk.fail(false);
    CHECK(eventually([&] { return log->status().log.samples == 1'000; }));
    CHECK(eventually([&] { return log->status().error.empty(); }));
    bench.disk.fail(true);
    log->consume(LogBench::samples(bench.a, 1'001, 500));
    CHECK(eventually([&] { return !log->status().error.empty(); }));
    CHECK(log->status().pending == 500);
    bench.disk.fail(false);
    log->close();
    CHECK(bench.read().samples.size() == 1'500);
    CHECK(bench.read().gaps.empty());
}

TEST_CASE("a log ends although its disk fails, and counts the lost samples", "[gateway][durable]") {
    LogBench bench;
    bench.disk.fail(true);
    const auto log = bench.start();
    log->consume(LogBench::samples(bench.a, 1, 1'000));
    log->close();
    CHECK(log->status().lost == 1'000);
    CHECK(log->status().pending == 0);
    log->consume(LogBench::samples(bench.a, 1'001, 1));  // ignored
    CHECK(log->status().lost == 1'000);
}

TEST_CASE("a log of one device has only that device", "[gateway][durable]") {
    LogBench bench;
    DurableLogOptions options = bench.options();
    options.devices = {"d"};
    DurableLog log(bench.parts(), options);
    std::vector<TelemetrySample> mixed;
    for (std::uint64_t seq = 1; seq <= 3; ++seq) {
        for (const ChannelId channel : {bench.a, bench.c, bench.b}) {
            mixed.push_back(LogBench::samples(channel, seq, 1).front());
        }
    }
    log.consume(mixed);
    log.gap({bench.c, 4, 5, DropReason::queue_overflow});
    log.close();
    CHECK(bench.read().samples.size() == 6);
    CHECK(bench.read().is_whole("e/c", 0));
    CHECK(log.status().pending == 0);
}

TEST_CASE("a log that was removed or renamed is created again", "[gateway][durable]") {
    LogBench bench;
    const bool is_removed = GENERATE(true, false);
    const auto log = bench.start();
    log->consume(LogBench::samples(bench.a, 1, 3));
    REQUIRE(eventually([&] { return log->status().log.synced > 3; }));
    bench.disk.fail(true);
    log->consume(LogBench::samples(bench.a, 4, 5));
    REQUIRE(eventually([&] { return !log->status().error.empty(); }));
    if (is_removed) {
        std::filesystem::remove_all(bench.dir.path("a"));
    } else {
        std::filesystem::rename(bench.dir.path("a"), bench.dir.path("kept"));
    }
    bench.disk.fail(false);
    CHECK(eventually([&] { return log->status().pending == 0; }));
    log->consume(LogBench::samples(bench.a, 9, 1));
    log->close();
    CHECK(log->status().lost == 0);
    const ReadLog read = bench.read();
    REQUIRE(read.samples.size() == 6);
    CHECK(read.samples.front().second.seq == 4);
    CHECK(read.gaps == Gaps{{"d/a", 1, 3, GapReason::retention}});
    CHECK((is_removed || bench.read("kept").samples.size() == 3));
}

TEST_CASE("a log does not change a file that has its name", "[gateway][durable]") {
    LogBench bench;
    bench.dir.write("a", "letter");
    const auto log = bench.start();
    CHECK(eventually([&] { return log->status().error.find("Not a directory") != std::string::npos; }));
    log->close();
    CHECK(bench.dir.read("a") == "letter");
}

TEST_CASE("a log is not readable by all users", "[gateway][durable]") {
    LogBench bench;
    bench.start()->consume(LogBench::samples(bench.a, 1, 1));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(bench.dir.path())) {
        CHECK((entry.status().permissions() & std::filesystem::perms::others_all) == std::filesystem::perms::none);
    }
}
