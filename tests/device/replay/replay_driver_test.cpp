#include "replay/replay_driver.hpp"

#include "device/driver_bench.hpp"
#include "device/nanoseconds.hpp"
#include "store/sample_log.hpp"
#include "store/segment_reader.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/scratch_dir.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <vector>

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

/// A device and a channel, and the name of the unit.
using LoggedChannels = std::vector<std::array<std::string, 3>>;

/// Writes a log, with a block for each moment: consecutive samples with the same monotonic time.
void write_log(const std::string& directory, const LoggedChannels& logged, std::span<const TelemetrySample> samples) {
    const SystemClock clock;
    ChannelTable channels;
    for (const auto& [device, channel, unit] : logged) {
        static_cast<void>(channels.add(DeviceId{0}, device, channel, unit));
    }
    store::SampleLog log({store::real_file_system(), channels, clock}, {directory, 5});
    while (!samples.empty()) {
        std::size_t count = 1;
        while (count < samples.size() && samples[count].time_mono_ns == samples[0].time_mono_ns) {
            ++count;
        }
        log.append(samples.first(count));
        log.sync();
        samples = samples.subspan(count);
    }
    log.close();
}

template <class Value>
TelemetrySample logged(std::uint32_t channel, std::uint64_t seq, std::int64_t time_ms, Value value) {
    TelemetrySample sample{};
    sample.channel = ChannelId{channel};
    sample.seq = seq;
    sample.time_mono_ns = time_ms * millisecond_ns;
    sample.time_utc_ns = 1'795'216'294'000'000'000 + sample.time_mono_ns;
    if constexpr (std::is_same_v<Value, double>) {
        sample.type = ValueType::real;
        sample.value.real = value;
    } else if constexpr (std::is_same_v<Value, bool>) {
        sample.type = ValueType::boolean;
        sample.value.boolean = value;
    } else if constexpr (std::is_same_v<Value, int>) {
        sample.type = ValueType::integer;
        sample.value.integer = value;
    }
    return sample;
}

/// Two devices, all types and qualities, at three moments that are 100 ms apart.
std::vector<TelemetrySample> all_logged() {
    std::vector<TelemetrySample> samples{logged(0, 1, 1'000, 12.5), logged(1, 1, 1'000, nullptr),
                                         logged(0, 6, 1'100, -3),   logged(1, 2, 1'100, nullptr),
                                         logged(0, 7, 1'200, true), logged(1, 3, 1'200, 0.25)};
    samples[1].type = ValueType::text;
    samples[1].text_bytes = static_cast<std::uint8_t>(std::string("on").copy(samples[1].value.text, 2));
    samples[1].flags = sample_flag::text_truncated;
    samples[1].quality = Quality::uncertain;
    samples[3].quality = Quality::bad;
    samples[4].quality = Quality::stale;
    return samples;
}

struct Replay {
    Replay() : Replay({{"boiler", "temp", "Cel"}, {"pump", "state", ""}}, all_logged()) {}
    Replay(const LoggedChannels& channels, std::span<const TelemetrySample> samples) {
        write_log(path, channels, samples);
    }

    ReplayOptions options() const {
        ReplayOptions options;
        options.path = path;
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
    const std::string path = dir.path("log");
};

}  // namespace

TEST_CASE("a log is played with its values, qualities and order", "[device][replay]") {
    const Replay replay;
    DriverBench bench(make_replay_driver(replay.options()));
    CHECK(Replay::play(bench, 6) == all_seen);
    CHECK(bench.samples().size() <= 6);
    CHECK(bench.channels().at(ChannelId{0}).unit == "Cel");
}

TEST_CASE("flags of samples are replayed", "[device][replay]") {
    const Replay replay;
    DriverBench bench(make_replay_driver(replay.stepped()));
    CHECK(bench.reads_ok());
    CHECK(bench.sample_of("pump.state").flags == sample_flag::text_truncated);
}

TEST_CASE("two replays give the same samples, timed or stepped", "[device][replay]") {
    const Replay replay;
    DriverBench first(make_replay_driver(replay.options()));
    DriverBench second(make_replay_driver(replay.options()));
    DriverBench third(make_replay_driver(replay.stepped()));
    const auto seen = Replay::play(first, 6);
    CHECK(Replay::play(second, 6) == seen);
    CHECK(Replay::play(third, 6) == seen);
}

TEST_CASE("a step replays one moment", "[device][replay]") {
    const Replay replay;
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
    const Replay replay;
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

TEST_CASE("a timed replay takes as long as the log", "[device][replay]") {
    const Replay replay;
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
    const Replay replay;
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
    const Replay replay;
    DriverBench bench(make_replay_driver(replay.stepped()));
    CHECK(bench.reads_ok());
    CHECK(bench.reads_ok());
    bench.driver().reset();
    CHECK(bench.reads_ok());
    CHECK(value_text(bench.sample_of("boiler.temp")) == "12.500000");
}

TEST_CASE("a missing log fails the reading, and is replayed once it exists", "[device][replay]") {
    const Replay replay;
    ReplayOptions options = replay.stepped();
    options.path = replay.dir.path("later");
    DriverBench bench(make_replay_driver(options));
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.what == options.path + ": No such file or directory");
    std::filesystem::rename(replay.path, options.path);
    CHECK(bench.reads_ok());
    CHECK(bench.samples().size() == 2);
}

TEST_CASE("a file, and a directory without segments, fail the reading", "[device][replay]") {
    const Replay replay;
    ReplayOptions options = replay.stepped();
    const auto [path, what] = GENERATE(table<std::string, std::string>(
        {{"", ": not a log: the directory has no segments"},
         {"log/00000000000000000000.tgl", ": not a log: must be a directory with segments"}}));
    options.path = replay.dir.path(path);
    DriverBench bench(make_replay_driver(options));
    CHECK(bench.read().status == ReadResult::Status::failed);
    CHECK(bench.what == options.path + what);
}

TEST_CASE("damage of a segment fails one reading, and the next reading continues after it", "[device][replay]") {
    const Replay replay;
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

TEST_CASE("topics that would have the same channel name get different names", "[device][replay]") {
    const std::string longest(64, 'x');
    const std::vector<TelemetrySample> samples{logged(0, 1, 0, 0.0), logged(1, 1, 0, 1.0), logged(2, 1, 0, 2.0),
                                               logged(3, 1, 0, 3.0)};
    const Replay replay({{"a", "b.c", ""}, {"a.b", "c", ""}, {longest, "c", ""}, {longest, "d", ""}}, samples);
    DriverBench bench(make_replay_driver(replay.stepped()));
    CHECK(bench.reads_ok());
    CHECK(value_text(bench.sample_of("a.b.c")) == "0.000000");
    CHECK(value_text(bench.sample_of("a.b.c_2")) == "1.000000");
    CHECK(value_text(bench.sample_of(longest)) == "2.000000");
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

TEST_CASE("an empty looping log does not use the CPU continuously", "[device][replay]") {
    const Replay replay({}, {});
    ReplayOptions options = replay.options();
    options.loop = true;
    DriverBench bench(make_replay_driver(options));
    const MonoTime begin = SystemClock().mono_now();
    CHECK(bench.reads_ok());
    CHECK(SystemClock().mono_now() - begin >= 900ms);
}

TEST_CASE("a log without samples of the source fails the reading", "[device][replay]") {
    const Replay replay;
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

TEST_CASE("a replay without a log is refused with the name of the setting", "[device][replay]") {
    CHECK_THROWS_WITH(make_replay_driver({}), Catch::Contains("path"));
}
