#include "device/sampler.hpp"

#include "allocation_counter.hpp"
#include "sampler_harness.hpp"
#include "simulated/simulated_driver.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

TEST_CASE("a device is read at its first step and then once per interval", "[device][sampler]") {
    SamplerHarness h;
    Script script;
    h.add(script, device_options("boiler", 10ms));
    const MonoTime start = h.clock.mono_now();
    CHECK(h.step() == start + 10ms);
    CHECK(h.step_after(9ms) == start + 10ms);
    CHECK(h.step_after(1ms) == start + 20ms);
    CHECK(script.reads == std::vector{start, start + 10ms});
}

TEST_CASE("no ticks are missed before the first step, however late it is", "[device][sampler]") {
    SamplerHarness h;
    Script script;
    h.add(script, device_options("boiler", 1ms));
    h.step_after(1h);
    const DeviceStatus status = h.sampler.status(DeviceId{0});
    CHECK(status.reads == 1);
    CHECK(status.ticks_missed == 0);
    CHECK(status.lateness_max == 0ns);
}

TEST_CASE("each device has its own interval, and the next deadline is the earliest of all", "[device][sampler]") {
    SamplerHarness h;
    Script fast;
    Script slow;
    h.add(slow, device_options("slow", 10ms));
    h.add(fast, device_options("fast", 3ms));
    const MonoTime start = h.clock.mono_now();
    CHECK(h.step() == start + 3ms);
    for (int count = 0; count < 30; ++count) {
        h.step_after(1ms);
    }
    CHECK(fast.reads.size() == 11);
    CHECK(slow.reads.size() == 4);
}

TEST_CASE("lateness is the time from the deadline to the read", "[device][sampler]") {
    SamplerHarness h;
    Script script;
    h.add(script, device_options("boiler", 10ms));
    h.step();
    h.step_after(14ms);
    h.step_after(6ms);
    const DeviceStatus status = h.sampler.status(DeviceId{0});
    CHECK(status.lateness_max == 4ms);
    CHECK(status.lateness_p99 == 4ms);
    CHECK(status.lateness_p50 == 0ns);
}

TEST_CASE("a device that waited for another one has lateness", "[device][sampler]") {
    SamplerHarness h;
    Script first;
    Script second;
    first.on_read = [&](SampleBatch&) {
        h.clock.advance(3ms);
    };
    h.add(first, device_options("first", 10ms));
    h.add(second, device_options("second", 10ms));
    h.step();
    CHECK(h.sampler.status(DeviceId{0}).lateness_max == 0ns);
    CHECK(h.sampler.status(DeviceId{1}).lateness_max == 3ms);
}

TEST_CASE("samples carry the time of their read", "[device][sampler]") {
    SamplerHarness h;
    Script script;
    h.add(script, device_options("boiler", 10ms));
    h.step();
    h.step_after(12ms);
    const auto samples = h.drain();
    REQUIRE(samples.size() == 2);
    CHECK(samples[1].time_utc_ns == h.clock.utc_now_ns());
    CHECK(samples[1].time_mono_ns == to_ns(h.clock.mono_now()));
}

TEST_CASE("a failed reading produces one bad sample for each channel without a sample", "[device][sampler]") {
    SamplerHarness h;
    Script script{.channels = {"a", "b", "c"}, .fails_with = "read error", .answers = 1};
    h.add(script, device_options("boiler"));
    h.step();
    const auto samples = h.drain();
    REQUIRE(samples.size() == 3);
    CHECK(samples[0].quality == Quality::good);
    CHECK(samples[1].quality == Quality::bad);
    CHECK(samples[1].type == ValueType::none);
    CHECK(samples[2].quality == Quality::bad);
    CHECK(h.counts(DeviceId{0}).sampled == 3);
}

TEST_CASE("an error of a part of a reading is reported, and the device measures", "[device][sampler]") {
    SamplerHarness h;
    Script script{.partly_with = "unit 3: no response"};
    const DeviceId device = h.add(script, device_options("boiler"));
    h.step();
    CHECK(h.state(device) == DeviceState::measuring);
    CHECK(h.sampler.status(device).last_error == "unit 3: no response");
    CHECK(h.sampler.status(device).reads_failed == 0);
    script.partly_with = nullptr;
    h.step_after(1s);
    CHECK(h.sampler.status(device).last_error == "unit 3: no response");
}

TEST_CASE("a failed reading leads to state error and a good one back to measuring", "[device][sampler]") {
    SamplerHarness h;
    Script script{.fails_with = "no response"};
    const DeviceId device = h.add(script, device_options("boiler"));
    h.step();
    CHECK(h.state(device) == DeviceState::error);
    CHECK(h.sampler.status(device).last_error == "no response");
    script.fails_with = nullptr;
    h.step_after(1s);
    CHECK(h.state(device) == DeviceState::measuring);
    CHECK(h.sampler.status(device).reads == 2);
    CHECK(h.sampler.status(device).reads_failed == 1);
}

TEST_CASE("consecutive errors lead to state safe, in which a device is not read", "[device][sampler]") {
    SamplerHarness h;
    Script script{.fails_with = "no response"};
    DeviceOptions options = device_options("boiler");
    options.errors_before_safe = 3;
    const DeviceId device = h.add(script, options);
    h.step();
    h.step_after(1s);
    CHECK(h.state(device) == DeviceState::error);
    CHECK(h.step_after(1s) == MonoTime::max());
    CHECK(h.state(device) == DeviceState::safe);
    h.step_after(1s);
    CHECK(script.reads.size() == 3);
    CHECK(h.drain().size() == 3);
}

TEST_CASE("a good reading restarts the count of errors", "[device][sampler]") {
    SamplerHarness h;
    Script script;
    DeviceOptions options = device_options("boiler");
    options.errors_before_safe = 2;
    const DeviceId device = h.add(script, options);
    for (int count = 0; count < 10; ++count) {
        script.fails_with = count % 2 == 0 ? "no response" : nullptr;
        h.step_after(1s);
    }
    CHECK(h.sampler.status(device).reads_failed == 5);
    CHECK(h.state(device) == DeviceState::measuring);
}

TEST_CASE("with errors_before_safe = 0 a device is retried forever", "[device][sampler]") {
    SamplerHarness h;
    Script script{.fails_with = "no response"};
    DeviceOptions options = device_options("boiler");
    options.errors_before_safe = 0;
    const DeviceId device = h.add(script, options);
    for (int count = 0; count < 100; ++count) {
        h.step_after(1s);
    }
    CHECK(h.state(device) == DeviceState::error);
    CHECK(script.reads.size() == 100);
}

TEST_CASE("a device that is not running does not affect the others", "[device][sampler]") {
    SamplerHarness h;
    Script broken{.fails_with = "no response"};
    Script healthy;
    DeviceOptions options = device_options("broken");
    options.errors_before_safe = 1;
    h.add(broken, options);
    h.add(healthy, device_options("healthy"));
    h.step();
    h.step_after(1s);
    h.step_after(1s);
    CHECK(broken.reads.size() == 1);
    CHECK(healthy.reads.size() == 3);
}

TEST_CASE("devices are found by name and have ids in order", "[device][sampler]") {
    SamplerHarness h;
    Script script;
    CHECK(h.add(script, device_options("boiler")) == DeviceId{0});
    CHECK(h.add(script, device_options("pump", 250ms)) == DeviceId{1});
    CHECK(h.sampler.devices().size() == 2);
    CHECK(h.sampler.find("pump") == DeviceId{1});
    CHECK_FALSE(h.sampler.find("pum"));
    CHECK(h.sampler.status(DeviceId{1}).name == "pump");
    CHECK(h.sampler.status(DeviceId{1}).interval == 250ms);
}

TEST_CASE("channels are known before the first read, and later ones are counted", "[device][sampler]") {
    SamplerHarness h;
    Script script{.channels = {"a", "b"}};
    const DeviceId device = h.add(script, device_options("boiler"));
    CHECK(h.sampler.status(device).channels == 2);
    script.on_read = [](SampleBatch& batch) {
        batch.add(batch.add_channel("hot-plugged", ""), true);
    };
    h.step();
    CHECK(h.sampler.status(device).channels == 3);
}

TEST_CASE("a device state has a name", "[device][sampler]") {
    CHECK(to_string(DeviceState::idle) == "idle");
    CHECK(to_string(DeviceState::measuring) == "measuring");
    CHECK(to_string(DeviceState::error) == "error");
    CHECK(to_string(DeviceState::safe) == "safe");
}

TEST_CASE("a tick costs no allocation once the channels are known", "[device][sampler]") {
    SamplerHarness h;
    SimulatedDriverOptions options;
    options.burst_probability = 0.01;
    options.error_probability = 0.1;
    options.stuck_probability = 0.01;
    h.sampler.add(device_options("simulated", 1ms), make_simulated_driver(options));
    std::vector<TelemetrySample> samples(h.queue.capacity());
    h.step();
    const std::uint64_t before = allocations();
    for (int step = 0; step < 1'000; ++step) {
        h.step_after(1ms);
        h.queue.pop(samples);
    }
    CHECK(allocations() == before);
    CHECK(h.sampler.status(DeviceId{0}).reads_failed > 50);
}

TEST_CASE("a consumer in low-power mode is woken immediately only when an eighth of the queue is full, or 1024 samples",
          "[device][sampler]") {
    const auto [capacity, samples_few] = GENERATE(table<std::size_t, std::size_t>({{160, 20}, {100'000, 1'024}}));
    SamplerHarness h(capacity);
    Script script;
    h.add(script, device_options("boiler", 10ms));
    h.step();
    CHECK(h.waker.signaled() == 1);
    h.waker.clear();
    h.waker.begin_low_power(1h);
    while (h.queue.size() + 1 < samples_few) {
        h.step_after(10ms);
    }
    CHECK(h.waker.signaled() == 1);
    CHECK(h.waker.timers() == 1);
    h.step_after(10ms);
    CHECK(h.waker.signaled() == 2);
    h.drain();
    h.waker.clear();
    h.step_after(10ms);
    CHECK(h.waker.signaled() == 2);
    h.waker.end_low_power();
    h.step_after(10ms);
    CHECK(h.waker.signaled() == 3);
}
