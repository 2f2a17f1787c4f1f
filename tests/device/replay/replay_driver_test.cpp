#include "replay/replay_driver.hpp"

#include "device/driver_bench.hpp"
#include "device/recording/made_recording.hpp"
#include "store/sample_log.hpp"
#include "store/segment_reader.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/scratch_dir.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <thread>
#include <tuple>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// Returns channel, number, quality, type and value.
using Seen = std::tuple<std::string, std::uint64_t, Quality, ValueType, std::string>;

std::string value_text(const TelemetrySample& sample) {
    switch (sample.type) {
        case ValueType::none: break;
        case ValueType::real: return std::to_string(sample.value.real);
        case ValueType::integer: return std::to_string(sample.value.integer);
        case ValueType::boolean: return sample.value.boolean ? "true" : "false";
        case ValueType::text: return std::string(sample.text());
    }
    return "";
}

const std::vector<Seen> all_seen{
    {"boiler.temp", 1, Quality::good, ValueType::real, "12.500000"},
    {"pump.state", 1, Quality::uncertain, ValueType::text, "on"},
    {"boiler.temp", 2, Quality::good, ValueType::integer, "-3"},
    {"pump.state", 2, Quality::bad, ValueType::none, ""},
    {"boiler.temp", 3, Quality::stale, ValueType::boolean, "true"},
    {"pump.state", 3, Quality::good, ValueType::real, "0.250000"},
};

/// Writes the samples of a MadeRecording as segments, one block for each moment.
void write_segments(const std::string& directory) {
    const SystemClock clock;
    ChannelTable channels;
    static_cast<void>(channels.add(DeviceId{0}, "boiler", "temp", "Cel"));
    static_cast<void>(channels.add(DeviceId{1}, "pump", "state", ""));
    store::SampleLog log({store::real_file_system(), channels, clock}, {directory, 5});
    const MadeRecording made;
    const ReadRecording read = read_recording(made.bytes());
    for (std::size_t i = 0; i < read.samples.size(); i += 2) {
        log.append(std::span(read.samples).subspan(i, 2));
        log.sync();
    }
    log.close();
}

struct Replay {
    /// Version 1 is a file, version 2 a directory of segments.
    explicit Replay(int version = 1) {
        version == 1 ? write_bytes(path, MadeRecording().bytes()) : write_segments(path);
    }

    ReplayOptions options() const {
        ReplayOptions options;
        options.file = path;
        options.speed = 1'000;
        return options;
    }
    ReplayOptions stepped() const {
        ReplayOptions result = options();
        result.mode = ReplayMode::stepped;
        return result;
    }
    /// Returns the next `count` samples as texts, from as many reads as necessary.
    static std::vector<Seen> play(DriverBench& bench, std::size_t count) {
        std::vector<Seen> seen;
        CHECK(eventually([&] {
            CHECK(bench.reads_ok());
            for (const TelemetrySample& sample : bench.samples()) {
                seen.emplace_back(bench.name_of(sample), sample.seq, sample.quality, sample.type, value_text(sample));
            }
            return seen.size() >= count;
        }));
        return seen;
    }

    ScratchDir dir;
    const std::string path = dir.path("a.tgr");
};

}  // namespace

TEST_CASE("a recording is played with its values, qualities and order", "[device][replay]") {
    const Replay replay(GENERATE(1, 2));
    DriverBench bench(make_replay_driver(replay.options()));
    CHECK(Replay::play(bench, 6) == all_seen);
    CHECK(bench.samples().size() <= 6);
    CHECK(bench.channels().at(ChannelId{0}).unit == "Cel");
}

TEST_CASE("flags of samples are replayed", "[device][replay]") {
    const Replay replay(GENERATE(1, 2));
    DriverBench bench(make_replay_driver(replay.stepped()));
    CHECK(bench.reads_ok());
    CHECK(bench.sample_of("pump.state").flags == sample_flag::text_truncated);
}

TEST_CASE("two replays give the same samples, timed or stepped", "[device][replay]") {
    const Replay replay(GENERATE(1, 2));
    DriverBench first(make_replay_driver(replay.options()));
    DriverBench second(make_replay_driver(replay.options()));
    DriverBench third(make_replay_driver(replay.stepped()));
    const auto seen = Replay::play(first, 6);
    CHECK(Replay::play(second, 6) == seen);
    CHECK(Replay::play(third, 6) == seen);
}

TEST_CASE("a step replays one moment", "[device][replay]") {
    const Replay replay(GENERATE(1, 2));
    DriverBench bench(make_replay_driver(replay.stepped()));
    for (int moment = 0; moment < 3; ++moment) {
        CHECK(bench.reads_ok());
        REQUIRE(bench.samples().size() == 2);
        CHECK(value_text(bench.samples()[0]) == std::get<4>(all_seen[static_cast<std::size_t>(moment) * 2]));
    }
    CHECK(bench.reads_ok());  // the end
    CHECK(bench.samples().empty());
}

TEST_CASE("the channels of one device keep their names", "[device][replay]") {
    const Replay replay(GENERATE(1, 2));
    ReplayOptions options = replay.stepped();
    options.source = "pump";
    DriverBench bench(make_replay_driver(options));
    CHECK(bench.reads_ok());
    REQUIRE(bench.samples().size() == 1);
    CHECK(value_text(bench.sample_of("state")) == "on");
}

TEST_CASE("samples carry the current or the recorded time", "[device][replay]") {
    const Replay replay;
    ReplayOptions options = replay.stepped();
    SECTION("now") {
        const std::int64_t before = SystemClock().utc_now_ns();
        DriverBench bench(make_replay_driver(options));
        CHECK(bench.reads_ok());
        CHECK(bench.samples().at(0).time_utc_ns >= before);
        CHECK(bench.samples().at(0).time_mono_ns == bench.samples().at(1).time_mono_ns);
    }
    SECTION("recorded") {
        options.time = ReplayTime::recorded;
        DriverBench bench(make_replay_driver(options));
        CHECK(bench.reads_ok());
        CHECK(bench.samples().at(0).time_utc_ns == 1'795'216'295'000'000'000);
        CHECK(bench.samples().at(0).time_mono_ns == 1'000'000'000);
    }
}

TEST_CASE("a timed replay takes as long as the recording", "[device][replay]") {
    const Replay replay(GENERATE(1, 2));
    ReplayOptions options = replay.options();
    options.speed = GENERATE(1, 4);
    DriverBench bench(make_replay_driver(options));
    const MonoTime begin = SystemClock().mono_now();
    Replay::play(bench, 6);
    const auto took = SystemClock().mono_now() - begin;
    CHECK(took >= std::chrono::duration<double>(0.2) / options.speed);
    CHECK(took < 20s);
}

TEST_CASE("a looping replay repeats the same values", "[device][replay]") {
    const Replay replay(GENERATE(1, 2));
    const bool is_timed = GENERATE(true, false);
    ReplayOptions options = is_timed ? replay.options() : replay.stepped();
    options.loop = true;
    DriverBench bench(make_replay_driver(options));
    const auto seen = Replay::play(bench, 18);
    REQUIRE(seen.size() >= 18);
    for (std::size_t i = 0; i < 18; ++i) {
        CHECK(std::get<4>(seen[i]) == std::get<4>(all_seen[i % 6]));
        CHECK(std::get<1>(seen[i]) == i / 2 + 1);
    }
}

TEST_CASE("a reset replays from the beginning", "[device][replay]") {
    const Replay replay(GENERATE(1, 2));
    DriverBench bench(make_replay_driver(replay.stepped()));
    CHECK(bench.reads_ok());
    CHECK(bench.reads_ok());
    bench.driver().reset();
    CHECK(bench.reads_ok());
    CHECK(value_text(bench.sample_of("boiler.temp")) == "12.500000");
}

TEST_CASE("a missing file fails the reading, and is replayed once it exists", "[device][replay]") {
    Replay replay;
    ReplayOptions options = replay.stepped();
    options.file = replay.dir.path("b.tgr");
    DriverBench bench(make_replay_driver(options));
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.what == options.file + ": No such file or directory");
    write_bytes(options.file, MadeRecording().bytes());
    CHECK(bench.reads_ok());
    CHECK(bench.samples().size() == 2);
}

TEST_CASE("a file that is not a recording fails the reading", "[device][replay]") {
    Replay replay;
    ReplayOptions options = replay.stepped();
    const auto [file, what] =
        GENERATE(table<std::string, std::string>({{"", ": not a recording"}, {"text", ": offset 0: not a recording"}}));
    options.file = replay.dir.path(file);
    if (!file.empty()) {
        write_bytes(options.file, as_bytes("hello"));
    }
    DriverBench bench(make_replay_driver(options));
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.what == options.file + what);
}

TEST_CASE(
    "damage fails one reading and is reported with its position, and the next reading "
    "continues after it",
    "[device][replay]") {
    Replay replay;
    std::vector<std::byte> bytes;
    {
        const MadeRecording made;
        bytes.assign(made.bytes().begin(), made.bytes().end());
    }
    const std::uint64_t first_samples = read_recording(bytes).ends[2];
    bytes[first_samples + 40] ^= std::byte{1};
    write_bytes(replay.path, bytes);
    DriverBench bench(make_replay_driver(replay.stepped()));
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.what == replay.path + ": offset " + std::to_string(first_samples) + ": wrong record checksum");
    CHECK(bench.reads_ok());
    CHECK(value_text(bench.sample_of("boiler.temp")) == "-3");
}

TEST_CASE("damage of a segment fails one reading, and the next reading continues after it", "[device][replay]") {
    const Replay replay(2);
    const std::string segment = replay.path + "/" + store::segment_name(0);
    const auto offset = store::SegmentReader::open(store::real_file_system(), segment)->index().blocks.at(2).offset;
    std::fstream file(segment, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp(static_cast<std::int64_t>(offset) - 9);  // the end of the payload of the block before
    file.put('x').put('x');
    file.close();
    DriverBench bench(make_replay_driver(replay.stepped()));
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.samples().size() == 2);  // of the first block
    CHECK(bench.what == replay.path + ": position 3: damaged samples");
    CHECK(bench.reads_ok());
    CHECK(value_text(bench.sample_of("boiler.temp")) == "true");
}

TEST_CASE("a segment that is a file is refused with a hint", "[device][replay]") {
    const Replay replay(2);
    ReplayOptions options = replay.stepped();
    options.file = replay.path + "/" + store::segment_name(0);
    DriverBench bench(make_replay_driver(options));
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.what.find("or a directory with segments of version 2") != std::string::npos);
}

TEST_CASE("samples of an undeclared channel are reported", "[device][replay]") {
    Replay replay;
    RecordingEncoder encoder;
    encoder.file_header();
    encoder.channel({0, "d", "c", ""});
    const std::array samples{recorded(0, 1, 0, 1.0), recorded(1, 1, 0, 2.0)};
    encoder.samples(samples);
    write_bytes(replay.path, encoder.bytes());
    DriverBench bench(make_replay_driver(replay.stepped()));
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.samples().size() == 1);
    CHECK(bench.what.find("undeclared") != std::string::npos);
    CHECK(bench.reads_ok());
}

TEST_CASE("topics that would have the same channel name get different names", "[device][replay]") {
    Replay replay;
    RecordingEncoder encoder;
    encoder.file_header();
    encoder.channel({0, "a", "b.c", ""});
    encoder.channel({1, "a.b", "c", ""});
    encoder.channel({2, std::string(64, 'x'), "c", ""});
    encoder.channel({3, std::string(64, 'x'), "d", ""});
    const std::array samples{recorded(0, 1, 0, 0.0), recorded(1, 1, 0, 1.0), recorded(2, 1, 0, 2.0),
                             recorded(3, 1, 0, 3.0)};
    encoder.samples(samples);
    write_bytes(replay.path, encoder.bytes());
    DriverBench bench(make_replay_driver(replay.stepped()));
    CHECK(bench.reads_ok());
    CHECK(value_text(bench.sample_of("a.b.c")) == "0.000000");
    CHECK(value_text(bench.sample_of("a.b.c_2")) == "1.000000");
    CHECK(value_text(bench.sample_of(std::string(64, 'x'))) == "2.000000");
    CHECK(value_text(bench.sample_of(std::string(62, 'x') + "_2")) == "3.000000");
}

TEST_CASE("a waiting replay is canceled immediately", "[device][replay]") {
    Replay replay;
    ReplayOptions options = replay.options();
    options.speed = 0.001;
    DriverBench bench(make_replay_driver(options));
    CHECK(bench.reads_ok());
    std::thread canceller([&] { bench.cancel.set(); });
    CHECK(eventually([&] { return bench.read().status == ReadResult::Status::interrupted; }));
    canceller.join();
}

TEST_CASE("an empty looping recording does not use the CPU continuously", "[device][replay]") {
    Replay replay;
    RecordingEncoder encoder;
    encoder.file_header();
    write_bytes(replay.path, encoder.bytes());
    ReplayOptions options = replay.options();
    options.loop = true;
    DriverBench bench(make_replay_driver(options));
    const MonoTime begin = SystemClock().mono_now();
    CHECK(bench.reads_ok());
    CHECK(SystemClock().mono_now() - begin >= 900ms);
}

TEST_CASE("a long search after damage can be canceled and continued", "[device][replay]") {
    const Replay replay;
    constexpr std::uintmax_t hole_bytes = 3 * recording::RecordingReader::search_step_bytes;
    std::filesystem::resize_file(replay.path, std::filesystem::file_size(replay.path) + hole_bytes);
    DriverBench bench(make_replay_driver(replay.stepped()));
    for (int moment = 0; moment < 2; ++moment) {
        CHECK(bench.reads_ok());
    }
    bench.cancel.set();
    CHECK(bench.read().status == ReadResult::Status::interrupted);
    bench.cancel.clear();
    CHECK(eventually([&] {
        CHECK(bench.reads_ok());
        return bench.samples().empty();
    }));
}

TEST_CASE("a recording without samples of the source fails the reading", "[device][replay]") {
    const Replay replay(GENERATE(1, 2));
    ReplayOptions options = replay.stepped();
    options.source = "zzz";
    options.loop = GENERATE(true, false);
    DriverBench bench(make_replay_driver(options));
    for (int read = 0; read < 2; ++read) {
        CHECK(bench.read().status == ReadResult::Status::failed);
        CHECK(bench.what == replay.path + ": no samples of the device \"zzz\"");
    }
}

TEST_CASE("a timed replay without samples of its source fails once a second", "[device][replay]") {
    const Replay replay;
    ReplayOptions options = replay.options();
    options.source = "zzz";
    DriverBench bench(make_replay_driver(options));
    const MonoTime begin = SystemClock().mono_now();
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(SystemClock().mono_now() - begin >= 900ms);
}

TEST_CASE("a replay of one device that has reached its end does not fail", "[device][replay]") {
    const Replay replay;
    ReplayOptions options = replay.stepped();
    options.source = "pump";
    DriverBench bench(make_replay_driver(options));
    for (int read = 0; read < 5; ++read) {
        CHECK(bench.reads_ok());
    }
    CHECK(bench.samples().empty());
}

TEST_CASE("replay options out of range are refused with the name of the setting", "[device][replay]") {
    ReplayOptions options;
    CHECK_THROWS_WITH(make_replay_driver(options), Catch::Contains("file"));
    options.file = "x";
    options.speed = GENERATE(0.0, -1.0, 0.0009, 1'001.0, std::numeric_limits<double>::quiet_NaN());
    CHECK_THROWS_WITH(make_replay_driver(options), Catch::Contains("speed"));
}
