#include "recording/recorders.hpp"

#include "base/whole_file.hpp"
#include "gateway/recording/recorder_harness.hpp"
#include "support/catch.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <random>
#include <string>

using namespace telegate;
using namespace telegate::test;
using store::GapReason;

namespace {

using Gaps = std::vector<ReadRecordings::Gap>;

}  // namespace

TEST_CASE("samples and gaps are recorded in their order", "[gateway][recorder]") {
    RecorderBench bench;
    const auto recording = bench.start();
    recording->take(RecorderBench::samples(bench.b, 1, 2));
    recording->gap({bench.b, 3, 7, DropReason::queue_overflow});
    recording->take(RecorderBench::samples(bench.b, 8, 1));
    recording->gap({bench.a, 1, 1, DropReason::shutdown});  // of a channel without samples
    recording->close();
    const ReadRecordings read = bench.read();
    CHECK(read.starts == 1);
    CHECK(read.stops == 1);
    REQUIRE(read.samples.size() == 3);
    CHECK(read.samples[2].first == "d/b");
    CHECK(read.samples[2].second.value.integer == 8);
    CHECK(read.gaps == Gaps{{"d/b", 3, 7, GapReason::queue_overflow}, {"d/a", 1, 1, GapReason::shutdown}});
    const DurableLogStatus status = recording->status();
    CHECK(status.log.samples == 3);
    CHECK(status.pending == 0);
    CHECK(status.lost == 0);
}

TEST_CASE("samples are written soon, not only at the end", "[gateway][recorder]") {
    RecorderBench bench;
    const auto recording = bench.start();
    recording->take(RecorderBench::samples(bench.a, 1, 2));
    CHECK(eventually([&] { return recording->status().log.samples == 2; }));
    CHECK(bench.read().samples.size() == 2);
}

TEST_CASE("a stalled disk costs samples, never time, and the recording says which", "[gateway][recorder]") {
    RecorderBench bench;
    bench.disk.block(true);
    const auto recording = bench.start();
    REQUIRE(eventually([&] { return bench.disk.is_waiting(); }));
    constexpr std::uint64_t count = LogBuffer::samples_max;
    recording->take(RecorderBench::samples(bench.a, 1, count - 10));
    recording->take(RecorderBench::samples(bench.b, 1, 25));
    recording->gap({bench.a, count - 9, count, DropReason::queue_overflow});
    recording->take(RecorderBench::samples(bench.a, count + 1, 5));
    CHECK(recording->status().lost == 20);
    CHECK(recording->status().pending == count);
    bench.disk.block(false);
    CHECK(eventually([&] { return recording->status().log.samples == count; }));
    recording->take(RecorderBench::samples(bench.a, count + 6, 1));
    recording->close();
    const ReadRecordings read = bench.read();
    CHECK(read.gaps == Gaps{{"d/b", 11, 25, GapReason::log_slow}, {"d/a", count - 9, count + 5, GapReason::log_slow}});
    CHECK(read.is_whole("d/a", count + 6));
    CHECK(read.is_whole("d/b", 25));
}

TEST_CASE("each loss is reported separately", "[gateway][recorder]") {
    RecorderBench bench;
    const auto recording = bench.start();
    std::uint64_t next = 1;
    for (int time = 0; time < 3; ++time) {
        bench.disk.block(true);
        recording->take(RecorderBench::samples(bench.a, next, 1));
        CHECK(eventually([&] { return bench.disk.is_waiting(); }));
        recording->take(RecorderBench::samples(bench.a, next + 1, LogBuffer::samples_max + 3));
        next += LogBuffer::samples_max + 4;
        bench.disk.block(false);
        CHECK(eventually([&] { return recording->status().pending == 0; }));
    }
    recording->close();
    const ReadRecordings read = bench.read();
    CHECK(recording->status().lost >= 9);
    CHECK(recording->status().lost + read.samples.size() == next - 1);
    CHECK(read.gaps.size() == 3);
    CHECK(read.is_whole("d/a", next - 1));
}

TEST_CASE("gaps beyond the limit of the buffer are reported as lost", "[gateway][recorder]") {
    RecorderBench bench;
    bench.disk.block(true);
    const auto recording = bench.start();
    for (std::uint64_t seq = 1; seq <= LogBuffer::gaps_max + 10; ++seq) {
        recording->gap({bench.a, seq, seq, DropReason::queue_overflow});
    }
    bench.disk.block(false);
    recording->close();
    const ReadRecordings read = bench.read();
    CHECK(read.gaps.size() == LogBuffer::gaps_max + 1);
    CHECK(read.is_whole("d/a", LogBuffer::gaps_max + 10));
}

TEST_CASE("a failing disk is retried, and nothing that fits in the buffer is lost", "[gateway][recorder]") {
    RecorderBench bench;
    bench.disk.fail(true);
    const auto recording = bench.start();
    CHECK(eventually([&] { return recording->status().error.find("the disk") != std::string::npos; }));
    recording->take(RecorderBench::samples(bench.a, 1, 1'000));
    bench.disk.fail(false);
    CHECK(eventually([&] { return recording->status().log.samples == 1'000; }));
    CHECK(eventually([&] { return recording->status().error.empty(); }));
    bench.disk.fail(true);
    recording->take(RecorderBench::samples(bench.a, 1'001, 500));
    CHECK(eventually([&] { return !recording->status().error.empty(); }));
    CHECK(recording->status().pending == 500);
    bench.disk.fail(false);
    recording->close();
    CHECK(bench.read().samples.size() == 1'500);
    CHECK(bench.read().gaps.empty());
}

TEST_CASE("a recording ends although its disk fails, and counts the lost samples", "[gateway][recorder]") {
    RecorderBench bench;
    bench.disk.fail(true);
    const auto recording = bench.start();
    recording->take(RecorderBench::samples(bench.a, 1, 1'000));
    recording->close();
    CHECK(recording->status().lost == 1'000);
    CHECK(recording->status().pending == 0);
    recording->take(RecorderBench::samples(bench.a, 1'001, 1));  // ignored
    CHECK(recording->status().lost == 1'000);
}

TEST_CASE("the recording of a device has only that device", "[gateway][recorder]") {
    RecorderBench bench;
    DurableLog recording(bench.parts(), bench.options("a", "d"));
    std::vector<TelemetrySample> mixed;
    for (std::uint64_t seq = 1; seq <= 3; ++seq) {
        for (const ChannelId channel : {bench.a, bench.c, bench.b}) {
            mixed.push_back(RecorderBench::samples(channel, seq, 1).front());
        }
    }
    recording.take(mixed);
    recording.gap({bench.c, 4, 5, DropReason::queue_overflow});
    recording.close();
    CHECK(bench.read().samples.size() == 6);
    CHECK(bench.read().is_whole("e/c", 0));
    CHECK(recording.status().device == "d");
    CHECK(recording.status().pending == 0);
}

TEST_CASE("a recording continues in the next run", "[gateway][recorder]") {
    RecorderBench bench;
    for (; bench.epoch_ms < 8; ++bench.epoch_ms) {
        bench.start()->take(RecorderBench::samples(bench.a, 1, 10));
    }
    CHECK(bench.read().starts == 3);
    CHECK(bench.read().stops == 3);
    CHECK(bench.read().samples.size() == 30);
    CHECK(bench.read().gaps.empty());
}

TEST_CASE("samples from before a recording started, or while it was off, are named", "[gateway][recorder]") {
    RecorderBench bench;
    bench.start()->take(RecorderBench::samples(bench.a, 11, 10));
    bench.start()->take(RecorderBench::samples(bench.a, 31, 10));
    CHECK(bench.read().samples.size() == 20);
    CHECK(bench.read().gaps == Gaps{{"d/a", 1, 10, GapReason::not_recorded}, {"d/a", 21, 30, GapReason::not_recorded}});
}

TEST_CASE("after a crash, a recording names the samples of its device that it has lost", "[gateway][recorder]") {
    RecorderBench bench;
    Recorders crashed(bench.parts());
    crashed.change({bench.options("a", "d")});
    crashed.take(RecorderBench::samples(bench.a, 1, 10));
    REQUIRE(eventually([&] { return crashed.status().at(0).log.samples == 10; }));
    std::filesystem::copy(bench.dir.path("a"), bench.dir.path("copy"));
    bench.known = {{"d/a", 15}, {"e/c", 9}};
    bench.epoch_ms = 6;
    Recorders recorders(bench.parts());
    recorders.change({bench.options("copy", "d")});
    recorders.close();
    CHECK(bench.read("copy").samples.size() == 10);
    CHECK(bench.read("copy").gaps == Gaps{{"d/a", 11, 15, GapReason::crash}});
}

TEST_CASE("the oldest samples of a recording are removed at its limit", "[gateway][recorder]") {
    RecorderBench bench;
    DurableLogOptions options = bench.options();
    options.limits.bytes_max = 1'048'576;
    DurableLog recording(bench.parts(), options);
    std::mt19937_64 random(1);
    std::uint64_t seq = 0;
    for (int part = 0; part < 20; ++part) {
        std::vector<TelemetrySample> samples = RecorderBench::samples(bench.a, seq + 1, 16'384);
        for (TelemetrySample& sample : samples) {  // values that cannot be compressed
            sample.value.integer = static_cast<std::int64_t>(random());
        }
        seq += samples.size();
        recording.take(samples);
        REQUIRE(eventually([&] { return recording.status().pending == 0; }));
    }
    recording.close();
    const DurableLogStatus status = recording.status();
    CHECK(status.log.segments_removed > 0);
    CHECK(status.log.bytes <= options.limits.bytes_max);
    CHECK(status.lost == 0);
    REQUIRE(!bench.read().samples.empty());
    CHECK(bench.read().samples.back().second.seq == seq);
    CHECK(bench.read().is_whole("d/a", seq));
}

TEST_CASE("a recording that was removed or renamed is created again", "[gateway][recorder]") {
    RecorderBench bench;
    const bool is_removed = GENERATE(true, false);
    const auto recording = bench.start();
    recording->take(RecorderBench::samples(bench.a, 1, 3));
    REQUIRE(eventually([&] { return recording->status().log.synced > 3; }));
    bench.disk.fail(true);
    recording->take(RecorderBench::samples(bench.a, 4, 5));
    REQUIRE(eventually([&] { return !recording->status().error.empty(); }));
    if (is_removed) {
        std::filesystem::remove_all(bench.dir.path("a"));
    } else {
        std::filesystem::rename(bench.dir.path("a"), bench.dir.path("kept"));
    }
    bench.disk.fail(false);
    CHECK(eventually([&] { return recording->status().pending == 0; }));
    recording->take(RecorderBench::samples(bench.a, 9, 1));
    recording->close();
    CHECK(recording->status().lost == 0);
    const ReadRecordings read = bench.read();
    REQUIRE(read.samples.size() == 6);
    CHECK(read.samples.front().second.seq == 4);
    CHECK(read.gaps == Gaps{{"d/a", 1, 3, GapReason::retention}});
    CHECK((is_removed || bench.read("kept").samples.size() == 3));
}

TEST_CASE("a recording of format version 1 is renamed, other files are not changed", "[gateway][recorder]") {
    RecorderBench bench;
    const std::string old = read_whole_file(TELEGATE_SOURCE_DIR "/tests/fuzz/seeds/recording/whole", 1'000'000);
    REQUIRE(old.size() > 100);
    const auto [text, is_recording] = GENERATE_COPY(
        table<std::string, bool>({{old, true}, {"letter", false}, {"a letter of more than sixteen bytes", false}}));
    bench.dir.write("a", text);
    const auto recording = bench.start();
    recording->take(RecorderBench::samples(bench.a, 1, 1));
    if (is_recording) {
        CHECK(eventually([&] { return recording->status().log.samples == 1; }));
    } else {
        CHECK(eventually([&] { return recording->status().error.find("Not a directory") != std::string::npos; }));
    }
    recording->close();
    CHECK(bench.dir.read(is_recording ? "a.v1" : "a") == text);
}

TEST_CASE("an error names the directory that cannot be a recording", "[gateway][recorder]") {
    RecorderBench bench;
    DurableLog recording(bench.parts(), bench.options("none/a"));
    CHECK(eventually([&] {
        return recording.status().error.find(bench.dir.path("none/a") + ": No such file") != std::string::npos;
    }));
}

TEST_CASE("a recording is not readable by all users", "[gateway][recorder]") {
    RecorderBench bench;
    bench.start()->take(RecorderBench::samples(bench.a, 1, 1));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(bench.dir.path())) {
        CHECK((entry.status().permissions() & std::filesystem::perms::others_all) == std::filesystem::perms::none);
    }
}

TEST_CASE("one recording uses a directory at a time", "[gateway][recorder]") {
    RecorderBench bench;
    const auto first = bench.start();
    REQUIRE(eventually([&] { return first->status().log.segments > 0; }));
    const auto second = bench.start();
    CHECK(eventually([&] { return second->status().error.find("cannot lock") != std::string::npos; }));
}

TEST_CASE("unchanged recordings continue when others are added or removed", "[gateway][recorder]") {
    RecorderBench bench;
    DurableLogOptions one = bench.options("one");
    const DurableLogOptions two = bench.options("two", "e");
    Recorders recorders(bench.parts());
    recorders.change({one});
    recorders.take(RecorderBench::samples(bench.a, 1, 1));
    one.limits.bytes_max = 2'097'152;  // can be changed in place
    recorders.change({one, two});
    recorders.take(RecorderBench::samples(bench.c, 1, 1));
    recorders.gap({bench.c, 2, 2, DropReason::queue_overflow});
    REQUIRE(recorders.status().size() == 2);
    CHECK(recorders.status()[0].capacity_bytes == 2'097'152);
    recorders.change({two});
    recorders.take(RecorderBench::samples(bench.c, 3, 1));
    recorders.close();
    CHECK(recorders.status().empty());
    CHECK(bench.read("one").samples.size() == 2);
    CHECK(bench.read("one").starts == 1);
    CHECK(bench.read("two").samples.size() == 2);
    CHECK(bench.read("two").gaps.size() == 1);
}

TEST_CASE("a new recording can use the directory of one that ends", "[gateway][recorder]") {
    RecorderBench bench;
    Recorders recorders(bench.parts());
    recorders.change({bench.options()});
    recorders.take(RecorderBench::samples(bench.a, 1, 1));
    recorders.change({bench.options("a", "d")});
    recorders.take(RecorderBench::samples(bench.a, 2, 1));
    recorders.close();
    CHECK(bench.read().samples.size() == 2);
    CHECK(bench.read().stops == 2);
}
