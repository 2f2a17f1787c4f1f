#include "sampler_harness.hpp"
#include "support/catch.hpp"

#include <algorithm>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

constexpr auto aligned_interval = 100ms;

DeviceOptions aligned(Duration offset = 0ms) {
    DeviceOptions options = device_options("boiler", aligned_interval);
    options.alignment = Alignment::wall;
    options.offset = offset;
    return options;
}

/// Steps at each deadline until this many more readings have been made.
void run(SamplerHarness& h, const Script& script, std::size_t readings) {
    const std::size_t end = script.reads.size() + readings;
    while (script.reads.size() < end) {
        const MonoTime next = h.step();
        h.clock.advance(std::max<Duration>(next - h.clock.mono_now(), 0ms));
    }
}

std::int64_t past_multiple(const TelemetrySample& sample, Duration offset = 0ms) {
    return (sample.time_utc_ns - offset.count()) % Duration(aligned_interval).count();
}

}  // namespace

TEST_CASE("an aligned device is read at whole multiples of its interval on the wall clock", "[device][alignment]") {
    const Duration offset = GENERATE(0ms, 30ms);
    SamplerHarness h;
    Script script;
    h.clock.advance(12'345us);
    h.add(script, aligned(offset));
    run(h, script, 5);
    for (const TelemetrySample& sample : h.drain()) {
        CHECK(past_multiple(sample, offset) == 0);
    }
}

TEST_CASE("a step of the wall clock causes neither a burst nor a gap nor lateness", "[device][alignment]") {
    const std::int64_t step_ms = GENERATE(-3'600'040, -70, -30, 20, 55, 90, 86'400'013);
    SamplerHarness h;
    Script script;
    const DeviceId device = h.add(script, aligned());
    run(h, script, 3);
    h.clock.step_utc(std::chrono::milliseconds(step_ms));
    run(h, script, 4);
    for (std::size_t i = 1; i < script.reads.size(); ++i) {
        CHECK(script.reads[i] - script.reads[i - 1] >= aligned_interval / 2);
        CHECK(script.reads[i] - script.reads[i - 1] <= aligned_interval * 3 / 2);
    }
    const std::vector<TelemetrySample> samples = h.drain();
    CHECK(past_multiple(samples.at(samples.size() - 1)) == 0);
    CHECK(past_multiple(samples.at(samples.size() - 2)) == 0);
    CHECK(h.sampler.status(device).lateness_max == 0ns);
    CHECK(h.sampler.status(device).ticks_missed == 0);
}

TEST_CASE("spread devices with the same interval are read at different times", "[device][alignment]") {
    SamplerHarness h;
    std::array<Script, 3> scripts;
    for (std::size_t i = 0; i < scripts.size(); ++i) {
        DeviceOptions options = device_options("d" + std::to_string(i), aligned_interval);
        options.alignment = Alignment::spread;
        h.add(scripts[i], options);
    }
    run(h, scripts[2], 2);
    CHECK(scripts[0].reads.at(0) != scripts[1].reads.at(0));
    CHECK(scripts[1].reads.at(0) != scripts[2].reads.at(0));
    CHECK(scripts[2].reads[1] - scripts[2].reads[0] == aligned_interval);
}
