#include "clock/clock_driver.hpp"

#include "device/allocation_counter.hpp"
#include "device/driver_bench.hpp"
#include "device/nanoseconds.hpp"
#include "simulated_clock.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::test;

TEST_CASE("the clock driver publishes state, errors and offset", "[device][clock]") {
    SimulatedClock clock;
    DriverBench bench(make_clock_driver(clock.watch()), "gateway");
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("clock").text() == "synchronized");
    CHECK(bench.sample_of("clock.error").value.real == Approx(0.0005));
    CHECK(bench.sample_of("clock.error_max").value.real == Approx(0.02));
    CHECK(bench.sample_of("clock.offset").value.integer == clock.next.utc_ns - clock.next.mono_ns);
    CHECK(bench.sample_of("clock.steps").value.integer == 0);
    CHECK(bench.samples_of("clock.step").empty());
    CHECK(bench.channels().at(bench.sample_of("clock").channel).topic == "gateway/clock");
    CHECK_FALSE(bench.driver().traits().own_thread);
}

TEST_CASE("a step is published once, as a sample with its size", "[device][clock]") {
    SimulatedClock clock;
    const auto watch = clock.watch();
    DriverBench bench(make_clock_driver(watch), "gateway");
    REQUIRE(bench.reads_ok());
    clock.pass(second_ns);
    clock.step(-90 * second_ns, true);
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("clock.step").value.real == Approx(-90.0));
    CHECK(bench.sample_of("clock.steps").value.integer == 1);
    REQUIRE(bench.reads_ok());
    CHECK(bench.samples_of("clock.step").empty());
    CHECK(bench.sample_of("clock.steps").value.integer == 1);
    // Two steps that other readings detected are one sample with their sum.
    clock.step(second_ns, true);
    watch->read();
    clock.step(2 * second_ns, true);
    watch->read();
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("clock.step").value.real == Approx(3.0));
    CHECK(bench.sample_of("clock.steps").value.integer == 3);
}

TEST_CASE("steps before the driver was created are counted but not published as a step", "[device][clock]") {
    SimulatedClock clock;
    const auto watch = clock.watch();
    clock.step(5 * second_ns, true);
    watch->read();
    DriverBench bench(make_clock_driver(watch), "gateway");
    REQUIRE(bench.reads_ok());
    CHECK(bench.samples_of("clock.step").empty());
    CHECK(bench.sample_of("clock.steps").value.integer == 1);
}

TEST_CASE("the errors have no value if the kernel does not report them", "[device][clock]") {
    SimulatedClock clock;
    clock.next.sync = ClockSync::unknown;
    DriverBench bench(make_clock_driver(clock.watch()), "gateway");
    REQUIRE(bench.reads_ok());
    CHECK(bench.sample_of("clock").text() == "unknown");
    CHECK(bench.sample_of("clock").quality == Quality::uncertain);
    CHECK(bench.sample_of("clock.error").quality == Quality::bad);
    CHECK(bench.sample_of("clock.error_max").quality == Quality::bad);
}

TEST_CASE("reading the clock allocates nothing", "[device][clock]") {
    DriverBench bench(make_clock_driver(), "gateway");
    bench.read();
    const std::uint64_t before = allocations();
    for (int tick = 0; tick < 50; ++tick) {
        bench.read();
    }
    CHECK(allocations() == before);
}

TEST_CASE("samples are flagged if the clock was not synchronized when they were taken", "[device][clock]") {
    SimulatedClock simulated;
    const WatchedClock clock(simulated.watch());
    ChannelTable channels;
    std::vector<TelemetrySample> samples;
    SampleBatch batch(clock, channels, {DeviceId{0}, "device"}, [&](std::span<const TelemetrySample> more) {
        samples.insert(samples.end(), more.begin(), more.end());
    });
    const auto channel = batch.add_channel("x", "");
    const std::string long_text(100, 'x');
    batch.go_on_from({});
    batch.begin(1, simulated.next.mono_ns);
    batch.add(channel, 1.0);
    simulated.next.sync = ClockSync::unsynchronized;
    simulated.pass(2 * second_ns);
    batch.begin(2, simulated.next.mono_ns);
    batch.add(channel, 2.0);
    batch.stamp(1, 1);  // when the device took it: on the same clock
    batch.add(channel, std::string_view(long_text));
    batch.add_absent(channel);
    batch.flush();
    REQUIRE(samples.size() == 4);
    CHECK(samples[0].flags == 0);
    CHECK(samples[1].flags == sample_flag::time_unsynchronized);
    CHECK(samples[2].flags == (sample_flag::time_unsynchronized | sample_flag::text_truncated));
    CHECK(samples[3].flags == sample_flag::time_unsynchronized);
}
