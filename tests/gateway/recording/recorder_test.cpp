#include "recording/recorder.hpp"

#include "gateway/recording/recorder_harness.hpp"
#include "support/catch.hpp"

#include <string>
#include <tuple>

using namespace telegate;
using namespace telegate::test;

namespace {

using RecordedGaps = std::vector<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t, recording::GapReason>>;

RecordedGaps gaps_of(const ReadRecording& read) {
    RecordedGaps gaps;
    for (const recording::Gap& gap : read.gaps) {
        gaps.emplace_back(gap.channel, gap.first_seq, gap.last_seq, gap.reason);
    }
    return gaps;
}

/// Checks that the numbers of a channel, including the gaps, are complete and in order.
bool is_whole(const ReadRecording& read, ChannelId channel, std::uint64_t last_seq) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;
    for (const TelemetrySample& sample : read.samples) {
        if (sample.channel == channel) {
            runs.emplace_back(sample.seq, sample.seq);
        }
    }
    for (const recording::Gap& gap : read.gaps) {
        if (gap.channel == to_index(channel)) {
            runs.emplace_back(gap.first_seq, gap.last_seq);
        }
    }
    std::sort(runs.begin(), runs.end());
    std::uint64_t next = 1;
    for (const auto& [first, last] : runs) {
        if (first != next) {
            return false;
        }
        next = last + 1;
    }
    return next == last_seq + 1;
}

}  // namespace

TEST_CASE("samples are recorded, with the channels declared before their first samples", "[gateway][recorder]") {
    RecorderBench bench;
    const auto recorder = bench.on_faulty_disk();
    recorder->put(bench.samples(bench.b, 1, 2));
    recorder->put(bench.samples(bench.a, 1, 1));
    recorder->close();
    const ReadRecording read = bench.script->read();
    CHECK(read.faults.empty());
    CHECK(read.starts.at(0).epoch_ms == 5);
    CHECK(read.channels == std::vector<std::pair<std::uint32_t, std::string>>{{1, "d/b "}, {0, "d/a Cel"}});
    REQUIRE(read.samples.size() == 3);
    CHECK(read.samples[2].channel == bench.a);
    CHECK(read.last.at(0).samples == 3);
    CHECK(read.last.at(0).lost == 0);
    const RecorderStatus status = recorder->status();
    CHECK(status.samples == 3);
    CHECK(status.pending == 0);
    CHECK(status.bytes == bench.script->bytes.size());
}

TEST_CASE("samples are written soon, not only at the end", "[gateway][recorder]") {
    RecorderBench bench;
    const auto recorder = bench.on_faulty_disk();
    recorder->put(bench.samples(bench.a, 1, 2));
    CHECK(eventually([&] { return bench.script->read().samples.size() == 2; }));
}

TEST_CASE("gaps reported by others are recorded at their position between the samples", "[gateway][recorder]") {
    RecorderBench bench;
    const auto recorder = bench.on_faulty_disk();
    recorder->put(bench.samples(bench.a, 1, 2));
    recorder->put_gap({0, recording::GapReason::queue_overflow, 3, 7});
    recorder->put(bench.samples(bench.a, 8, 1));
    recorder->put_gap({1, recording::GapReason::shutdown, 1, 1});  // of a channel without samples
    recorder->close();
    const ReadRecording read = bench.script->read();
    CHECK(gaps_of(read) ==
          RecordedGaps{{0, 3, 7, recording::GapReason::queue_overflow}, {1, 1, 1, recording::GapReason::shutdown}});
    CHECK(read.channels.size() == 2);
    CHECK(is_whole(read, bench.a, 8));
    CHECK(recorder->status().lost == 0);
}

TEST_CASE("a stalled disk costs samples, never time, and the file says which", "[gateway][recorder]") {
    RecorderBench bench;
    bench.script->block(true);
    const auto recorder = bench.on_faulty_disk();
    REQUIRE(eventually([&] { return bench.script->is_waiting(); }));
    constexpr std::uint64_t count = RecorderBuffer::samples_max;
    recorder->put(bench.samples(bench.a, 1, count - 10));
    recorder->put(bench.samples(bench.b, 1, 25));
    recorder->put_gap({0, recording::GapReason::queue_overflow, count - 9, count});
    recorder->put(bench.samples(bench.a, count + 1, 5));
    CHECK(recorder->status().lost == 20);
    CHECK(recorder->status().pending == count);
    bench.script->block(false);
    CHECK(eventually([&] { return recorder->status().samples == count; }));
    recorder->put(bench.samples(bench.a, count + 6, 1));
    recorder->close();
    const ReadRecording read = bench.script->read();
    CHECK(read.faults.empty());
    CHECK(gaps_of(read) == RecordedGaps{{1, 11, 25, recording::GapReason::recorder},
                                        {0, count - 9, count + 5, recording::GapReason::recorder}});
    CHECK(is_whole(read, bench.a, count + 6));
    CHECK(is_whole(read, bench.b, 25));
    CHECK(read.last.at(0).lost == 20);
    CHECK(recorder->status().samples == count + 1);
}

TEST_CASE("on a full disk a recorder releases its file when that is removed, and starts another",
          "[gateway][recorder]") {
    RecorderBench bench;
    const auto recorder = bench.on_faulty_disk();
    recorder->put(bench.samples(bench.a, 1, 3));
    REQUIRE(eventually([&] { return recorder->status().pending == 0; }));
    bench.script->fail_with("disk: No space left on device");
    recorder->put(bench.samples(bench.a, 4, 5));
    recorder->put_gap({0, recording::GapReason::queue_overflow, 9, 9});
    REQUIRE(eventually([&] { return !recorder->status().error.empty(); }));
    bench.script->remove_file();
    CHECK(eventually([&] { return recorder->status().pending == 0; }));
    recorder->close();
    const ReadRecording read = bench.script->read();
    CHECK(read.faults.empty());
    REQUIRE(read.samples.size() == 5);
    CHECK(read.samples.front().seq == 4);
    CHECK(gaps_of(read) == RecordedGaps{{0, 9, 9, recording::GapReason::queue_overflow}});
    CHECK(recorder->status().lost == 0);
}

TEST_CASE("each loss is reported separately", "[gateway][recorder]") {
    RecorderBench bench;
    const auto recorder = bench.on_faulty_disk();
    std::uint64_t next = 1;
    for (int time = 0; time < 3; ++time) {
        bench.script->block(true);
        recorder->put(bench.samples(bench.a, next, 1));
        CHECK(eventually([&] { return bench.script->is_waiting(); }));
        recorder->put(bench.samples(bench.a, next + 1, RecorderBuffer::samples_max + 3));
        next += RecorderBuffer::samples_max + 4;
        bench.script->block(false);
        CHECK(eventually([&] { return recorder->status().pending == 0; }));
    }
    recorder->close();
    const ReadRecording read = bench.script->read();
    CHECK(recorder->status().lost >= 9);
    CHECK(recorder->status().lost + read.samples.size() == next - 1);
    CHECK(read.gaps.size() == 3);
    CHECK(read.last.at(0).lost == recorder->status().lost);
    CHECK(is_whole(read, bench.a, next - 1));
}

TEST_CASE("gaps beyond the limit are reported as those of the recorder", "[gateway][recorder]") {
    RecorderBench bench;
    bench.script->block(true);
    const auto recorder = bench.on_faulty_disk();
    for (std::uint64_t seq = 1; seq <= RecorderBuffer::gaps_max + 10; ++seq) {
        recorder->put_gap({0, recording::GapReason::queue_overflow, seq, seq});
    }
    bench.script->block(false);
    recorder->close();
    const ReadRecording read = bench.script->read();
    CHECK(read.gaps.size() == RecorderBuffer::gaps_max + 1);
    CHECK(is_whole(read, bench.a, RecorderBuffer::gaps_max + 10));
}

TEST_CASE("a failing disk is retried, and nothing that fits in the buffer is lost", "[gateway][recorder]") {
    RecorderBench bench;
    bench.script->fail_with("disk: No space left on device");
    const auto recorder = bench.on_faulty_disk();
    CHECK(eventually([&] { return recorder->status().error == "disk: No space left on device"; }));
    recorder->put(bench.samples(bench.a, 1, 1'000));
    bench.script->fail_with("");
    CHECK(eventually([&] { return recorder->status().samples == 1'000; }));
    CHECK(eventually([&] { return recorder->status().error.empty(); }));
    bench.script->fail_with("disk: Input/output error");
    recorder->put(bench.samples(bench.a, 1'001, 500));
    CHECK(eventually([&] { return !recorder->status().error.empty(); }));
    bench.script->fail_with("");
    recorder->close();
    const ReadRecording read = bench.script->read();
    CHECK(read.faults.empty());
    CHECK(read.samples.size() == 1'500);
    CHECK(bench.script->opened == 1);
}

TEST_CASE("a recorder ends although its disk fails, and counts the lost samples", "[gateway][recorder]") {
    RecorderBench bench;
    bench.script->fail_with("disk: Read-only file system");
    const auto recorder = bench.on_faulty_disk();
    recorder->put(bench.samples(bench.a, 1, 1'000));
    recorder->close();
    CHECK(recorder->status().lost == 1'000);
    CHECK(recorder->status().pending == 0);
    recorder->put(bench.samples(bench.a, 1'001, 1));  // ignored
    CHECK(recorder->status().lost == 1'000);
}

TEST_CASE("the recorder of a device records only that device", "[gateway][recorder]") {
    RecorderBench bench;
    RecorderOptions options = bench.options();
    options.device = "d";
    Recorder recorder(options, bench.parts());
    std::vector<TelemetrySample> mixed;
    for (std::uint64_t seq = 1; seq <= 3; ++seq) {
        for (const ChannelId channel : {bench.a, bench.c, bench.c, bench.b}) {
            mixed.push_back(bench.samples(channel, seq, 1).front());
        }
    }
    recorder.put(mixed);
    recorder.put_gap({to_index(bench.c), recording::GapReason::queue_overflow, 4, 5});
    recorder.close();
    const ReadRecording read = bench.read();
    CHECK(read.samples.size() == 6);
    CHECK(read.channels.size() == 2);
    CHECK(read.gaps.empty());
    CHECK(recorder.status().device == "d");
}

TEST_CASE("a recording continues in an existing file", "[gateway][recorder]") {
    RecorderBench bench;
    for (std::uint64_t time = 0; time < 3; ++time) {
        Recorder recorder(bench.options(), bench.parts());
        recorder.put(bench.samples(bench.a, 1, 10));
    }
    const ReadRecording read = bench.read();
    CHECK(read.faults.empty());
    CHECK(read.starts.size() == 3);
    CHECK(read.channels.size() == 3);
    CHECK(read.samples.size() == 30);
    CHECK(read.last.size() == 3);
}

TEST_CASE("a truncated record at the end of a recording is removed, and the recording continues",
          "[gateway][recorder]") {
    RecorderBench bench;
    std::string before;
    {
        Recorder recorder(bench.options(), bench.parts());
        recorder.put(bench.samples(bench.a, 1, 10));
        recorder.close();
        std::ifstream file(bench.options().path, std::ios::binary);
        before = {std::istreambuf_iterator<char>(file), {}};
    }
    const std::vector<std::uint64_t> ends = bench.read().ends;
    for (std::size_t bytes = 0; bytes < before.size(); bytes += 7) {
        CAPTURE(bytes);
        write_bytes(bench.options().path, as_bytes(before.substr(0, bytes)));
        {
            Recorder recorder(bench.options(), bench.parts());
            recorder.put(bench.samples(bench.b, 1, 1));
        }
        const ReadRecording read = bench.read();
        CHECK(read.faults.empty());
        CHECK(read.torn_bytes == 0);
        CHECK(read.samples.size() == (bytes >= ends[2] ? 11 : 1));
        CHECK(read.starts.size() == (bytes >= ends[0] ? 2 : 1));
    }
}

TEST_CASE("a damaged recording is renamed, not truncated", "[gateway][recorder]") {
    RecorderBench bench;
    const MadeRecording made;
    std::vector<std::byte> bytes(made.bytes().begin(), made.bytes().end());
    bytes[100] ^= std::byte{1};
    bytes.pop_back();  // and without an end record
    write_bytes(bench.options().path, bytes);
    RecorderOptions options = bench.options();
    options.files_max = GENERATE(std::size_t{1}, std::size_t{2});
    {
        Recorder recorder(options, bench.parts());
        recorder.put(bench.samples(bench.a, 1, 1));
    }
    CHECK(bench.read().samples.size() == 1);
    CHECK(bench.read("a.tgr.1").damaged_bytes > 0);
}

TEST_CASE("a file that is not a recording is not changed", "[gateway][recorder]") {
    RecorderBench bench;
    const std::string text = GENERATE("letter", "a letter of more than sixteen bytes");
    write_bytes(bench.options().path, as_bytes(text));
    {
        Recorder recorder(bench.options(), bench.parts());
        recorder.put(bench.samples(bench.a, 1, 1));
        CHECK(eventually(
            [&] { return recorder.status().error.find("; the file was not changed") != std::string::npos; }));
    }
    std::ifstream file(bench.options().path);
    CHECK(std::string{std::istreambuf_iterator<char>(file), {}} == text);
}
