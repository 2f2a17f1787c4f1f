#include "durable/durable_log.hpp"
#include "gateway/durable/log_harness.hpp"
#include "store/published_mark.hpp"
#include "store/segment_reader.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

namespace telegate::test {
namespace {

/// A log on a disk that can fail, of a gateway that has captured this many samples of `bench.a`.
struct FaultyLog {
    FaultyLog() { start(); }
    void start() {
        log.reset();
        DurableLog::Parts parts = bench.parts();
        parts.epoch_ms = ++epoch_ms;
        parts.captured = [this](ChannelId channel) {
            return channel == bench.a ? captured.load() : 0;
        };
        log = std::make_unique<DurableLog>(std::move(parts), bench.options());
    }
    /// Publishes samples up to this number.
    void publish(std::uint64_t last_seq) {
        log->consume(LogBench::samples(bench.a, published + 1, last_seq - published));
        published = last_seq;
        captured = std::max(captured.load(), published);
    }
    [[nodiscard]] bool is_marked(std::uint64_t last_seq) const {
        store::FileSystem& files = store::real_file_system();
        const auto head = store::SegmentReader::head(files, bench.dir.path("a/") + store::segment_name(0));
        return head && store::PublishedMark::read(files, bench.dir.path("a"), head->log_id, epoch_ms).last_seqs ==
                           store::LastSeqs{{"d/a", last_seq}};
    }

    LogBench bench;
    std::atomic<std::uint64_t> captured{0};
    std::uint64_t published = 0;
    std::int64_t epoch_ms = 0;
    std::unique_ptr<DurableLog> log;
};

using Gaps = std::vector<ReadLog::Gap>;

}  // namespace

TEST_CASE("how far samples are captured is marked while they wait to be written", "[gateway][durable]") {
    FaultyLog f;
    f.captured = 7;
    f.publish(1);
    CHECK(eventually([&] { return f.is_marked(7); }));
}

TEST_CASE("a log that cannot be written when the gateway stops counts and names every sample", "[gateway][durable]") {
    FaultyLog f;
    f.publish(10);
    CHECK(eventually([&] { return f.log->status().log.samples == 10; }));
    f.bench.disk.fail(true, ".tgl");
    f.publish(15);
    CHECK(eventually([&] { return !f.log->status().error.empty(); }));
    f.publish(18);
    f.log->close();
    CHECK(f.log->status().lost == 8);
    f.bench.disk.fail(false);
    f.start();
    CHECK(f.bench.read().gaps == Gaps{{"d/a", 11, 18, store::GapReason::log_slow}});
}

TEST_CASE("samples that wait for a disk that cannot be written stay in the marks", "[gateway][durable]") {
    FaultyLog f;
    f.publish(10);
    CHECK(eventually([&] { return f.log->status().log.samples == 10; }));
    f.bench.disk.fail(true, ".tgl");
    f.publish(15);
    CHECK(eventually([&] { return !f.log->status().error.empty(); }));
    CHECK(eventually([&] { return f.is_marked(15); }));
    f.publish(18);
    CHECK(eventually([&] { return f.is_marked(18); }));
    f.bench.disk.fail(false);
}

TEST_CASE("samples that are captured while a sync waits for the disk are marked", "[gateway][durable]") {
    FaultyLog f;
    f.publish(10);
    CHECK(eventually([&] { return f.log->status().log.samples == 10; }));
    f.bench.disk.block_syncs(true);
    f.publish(15);
    CHECK(eventually([&] { return f.bench.disk.is_waiting(); }));
    f.captured = 17;
    CHECK(eventually([&] { return f.is_marked(17); }));
    f.captured = 23;
    CHECK(eventually([&] { return f.is_marked(23); }));
    f.bench.disk.block_syncs(false);
    f.log->close();
    CHECK(f.log->status().log.samples == 15);
}

TEST_CASE("samples that a blocked pump leaves in the queue are marked", "[gateway][durable]") {
    FaultyLog f;
    f.publish(10);
    CHECK(eventually([&] { return f.log->status().log.samples == 10; }));
    f.log->flush();  // the iteration that took them
    f.captured = 17;
    f.log->flush();  // one that could take nothing
    CHECK(eventually([&] { return f.is_marked(17); }));
}

TEST_CASE("samples that were dropped before they were published are gaps of the log with their own reasons",
          "[gateway][durable]") {
    FaultyLog f;
    f.publish(10);
    f.log->gap({f.bench.a, 11, 12, DropReason::queue_overflow});
    f.log->gap({f.bench.a, 13, 15, DropReason::shutdown});
    f.log->close();
    CHECK(f.bench.read().gaps ==
          Gaps{{"d/a", 11, 12, store::GapReason::queue_overflow}, {"d/a", 13, 15, store::GapReason::shutdown}});
}

TEST_CASE("the gaps of a killed run are those of logged devices", "[gateway][durable]") {
    LogBench bench;
    bench.known = {{"d/b", 30}, {"e/c", 30}};
    DurableLog::Parts parts = bench.parts();
    parts.captured = [](ChannelId /*channel*/) {
        return std::uint64_t{20};
    };
    DurableLogOptions options = bench.options();
    options.devices = {"d"};
    DurableLog killed(std::move(parts), options);
    killed.consume(LogBench::samples(bench.c, 1, 10));
    killed.consume(LogBench::samples(bench.a, 1, 10));
    REQUIRE(eventually([&] { return killed.status().log.samples == 10; }));
    std::filesystem::copy(bench.dir.path("a"), bench.dir.path("copy"));
    bench.epoch_ms = 6;
    options.path = bench.dir.path("copy");
    DurableLog(bench.parts(), options).close();
    const ReadLog read = bench.read("copy");
    CHECK(read.samples.size() == 10);
    CHECK(read.is_whole("d/a", 20));
    CHECK(read.is_whole("d/b", 30));
    CHECK(read.is_whole("e/c", 0));
}

}  // namespace telegate::test
