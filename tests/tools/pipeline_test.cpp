#include "pipeline/load.hpp"
#include "pipeline/receiver.hpp"
#include "support/catch.hpp"

#include "core/channel_table.hpp"
#include "core/telemetry_sample.hpp"
#include "device/sample_batch.hpp"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace telegate;
using namespace telegate::perf;

namespace {

std::string json_of(const std::string& seq) {
    return R"({"device":"load","channel":"c0042","epoch":1795217494123,"seq":)" + seq +
           R"(,"time":"2026-11-20T23:11:34.123456789Z","value":12.5,"unit":"1","quality":"good"})";
}

std::string record_of(std::uint64_t seq) {
    std::string record(64, '\0');
    std::memcpy(record.data() + 16, &seq, sizeof seq);
    return record;
}

/// A driver with its batch and its output.
struct DriverBench {
    explicit DriverBench(const LineWork& work, std::size_t ticks = 100) : times(ticks), driver(work, times) {
        driver.open(batch);
    }
    void read_at(std::chrono::nanoseconds since_start) {
        const MonoTime now = start + since_start;
        batch.begin(0, to_ns(now));
        driver.read(batch, now);
        batch.flush();
    }

    const MonoTime start{std::chrono::seconds(100)};
    CaptureTimes times;
    SystemClock clock;
    ChannelTable channels;
    std::vector<TelemetrySample> samples;
    SampleBatch batch{clock, channels, {DeviceId{0}, load_device}, [this](std::span<const TelemetrySample> more) {
                          samples.insert(samples.end(), more.begin(), more.end());
                      }};
    LoadDriver driver;
};

}  // namespace

TEST_CASE("the sequence number of a json payload is found at its position", "[tools][pipeline]") {
    const auto numbers = json_numbers(json_of("18446744073709551615"));
    REQUIRE(numbers);
    CHECK(numbers->first == 18'446'744'073'709'551'615U);
    CHECK(numbers->count == 1);
}

TEST_CASE("a payload that is not a json payload of the load has no number", "[tools][pipeline]") {
    const auto text = GENERATE(std::string(), std::string("{}"), json_of(""), json_of("-1"), json_of("1.5"),
                               json_of("1").substr(0, 64), json_of("1").insert(12, "x"));
    CAPTURE(text);
    CHECK_FALSE(json_numbers(text));
}

TEST_CASE("the records of one payload ascend, with a gap where the queue dropped some", "[tools][pipeline]") {
    const auto numbers = record_numbers(record_of(7) + record_of(8) + record_of(11));
    REQUIRE(numbers);
    CHECK(numbers->first == 7);
    CHECK(numbers->last == 11);
    CHECK(numbers->count == 3);
    CHECK_FALSE(record_numbers(record_of(7) + record_of(7)));
    CHECK_FALSE(record_numbers(record_of(7).substr(1)));
    CHECK_FALSE(record_numbers(""));
}

TEST_CASE("the topic of the load identifies its channel", "[tools][pipeline]") {
    CHECK(channel_in("load/" + channel_name(42)) == 42U);
    CHECK(channel_in("load/" + channel_name(9'999)) == 9'999U);
    for (const char* other : {"load/c004", "load/c00420", "host/c0042", "load/c00x2", ""}) {
        CAPTURE(other);
        CHECK_FALSE(channel_in(other));
    }
}

TEST_CASE("quantiles of delays have a relative error of at most 1/64 and count samples", "[tools][pipeline]") {
    DelayCounts delays;
    CHECK(delays.quantile_us(0.5) == 0.0);
    delays.add(1'000, 98);
    delays.add(1'000'000, 1);
    DelayCounts more;
    more.add(7'000'000, 1);
    delays.add(more);
    CHECK(delays.quantile_us(0.98) == Approx(1.0).epsilon(1.0 / 64));
    CHECK(delays.quantile_us(0.99) == Approx(1'000.0).epsilon(1.0 / 64));
    CHECK(delays.quantile_us(1.0) == 7'000.0);
    CHECK(delays.maximum_us() == 7'000.0);
}

TEST_CASE("delays below zero or beyond the last bucket are counted at the ends of the scale", "[tools][pipeline]") {
    DelayCounts delays;
    delays.add(-5, 1);
    CHECK(delays.quantile_us(1.0) == 0.0);
    delays.add(INT64_MAX, 1);
    CHECK(delays.maximum_us() == Approx(static_cast<double>(INT64_MAX) / 1'000));
}

TEST_CASE("a sample belongs to the last tick that started at or before it", "[tools][pipeline]") {
    CaptureTimes times(3);
    CaptureTimes::Reader reader(times);
    times.add(5, 100);
    CHECK(reader.mono_ns(reader.tick_of(0)) == 100);
    CHECK_FALSE(times.full());
    times.add(1, 200);
    times.add(4, 300);
    CHECK(times.full());
    CHECK(times.given() == 10);
    CHECK(times.first_mono_ns() == 100);
    CHECK(times.last_mono_ns() == 300);
    for (const auto& [sample, mono_ns] :
         std::vector<std::pair<std::uint64_t, std::int64_t>>{{9, 300}, {6, 300}, {5, 200}, {4, 100}, {5, 200}}) {
        CAPTURE(sample);
        CHECK(reader.mono_ns(reader.tick_of(sample)) == mono_ns);
    }
}

TEST_CASE("the load outputs exactly what its rate requires, each channel in turn", "[tools][pipeline]") {
    DriverBench bench({3'000, 8, 3});
    bench.read_at(std::chrono::milliseconds(0));
    CHECK(bench.samples.size() == 1);
    bench.read_at(std::chrono::microseconds(1'400));  // late, so samples for the elapsed time are due
    CHECK(bench.samples.size() == 5);
    bench.read_at(std::chrono::milliseconds(100));
    bench.read_at(std::chrono::milliseconds(101));
    REQUIRE(bench.samples.size() == 8);
    CHECK(bench.times.given() == 8);
    for (std::uint64_t sample = 0; sample < 8; ++sample) {
        CHECK(to_index(bench.samples[sample].channel) == sample % 3);
        CHECK(bench.samples[sample].seq == sample / 3 + 1);
    }
}

TEST_CASE("after a stall, the load catches up with at most twice its share per tick", "[tools][pipeline]") {
    DriverBench bench({10'000, 1'000, 1});
    bench.read_at(std::chrono::milliseconds(0));
    bench.read_at(std::chrono::milliseconds(50));
    CHECK(bench.samples.size() == 21);
    bench.read_at(std::chrono::milliseconds(51));
    CHECK(bench.samples.size() == 41);
}

TEST_CASE("a load outputs nothing if there is no capacity for another tick", "[tools][pipeline]") {
    DriverBench bench({10'000, 1'000, 1}, 1);
    bench.read_at(std::chrono::milliseconds(0));
    bench.read_at(std::chrono::milliseconds(1));
    CHECK(bench.times.given() == 1);
}
