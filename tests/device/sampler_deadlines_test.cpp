#include "device/sampler.hpp"

#include "sampler_harness.hpp"
#include "support/catch.hpp"
#include "support/rounds.hpp"

#include <cstdint>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

TEST_CASE("a late read does not shift later deadlines", "[device][sampler]") {
    SamplerHarness h;
    Script script;
    h.add(script, device_options("boiler", 10ms));
    const MonoTime start = h.clock.mono_now();
    h.step();
    CHECK(h.step_after(17ms) == start + 20ms);
    CHECK(h.step_after(3ms) == start + 30ms);
    CHECK(h.sampler.status(DeviceId{0}).ticks_missed == 0);
}

TEST_CASE("each deadline is exactly start + k * interval, however late the reads", "[device][sampler]") {
    const Duration interval = GENERATE(Duration(10us), Duration(333us), Duration(1ms), Duration(1'234'567ns));
    CAPTURE(interval.count());
    constexpr std::int64_t ticks = rounds(1'000'000);
    SamplerHarness h(10);
    Script script;
    h.add(script, device_options("boiler", interval));
    script.reads.reserve(ticks + 1);
    const MonoTime start = h.clock.mono_now();
    MonoTime due = h.step();
    std::int64_t drifted = due == start + interval ? 0 : 1;
    for (std::int64_t tick = 1; tick <= ticks; ++tick) {
        const Duration late_by = tick % 1'000 * interval / 1'000;
        h.clock.advance(due + late_by - h.clock.mono_now());
        due = h.step();
        drifted += due == start + (tick + 1) * interval ? 0 : 1;
    }
    CHECK(drifted == 0);
    CHECK(script.reads.size() == ticks + 1);
    CHECK(h.sampler.status(DeviceId{0}).ticks_missed == 0);
}

TEST_CASE("missed deadlines do not shift the grid, and each deadline is read or counted", "[device][sampler]") {
    constexpr Duration interval = 333us;
    SamplerHarness h(10);
    Script script;
    h.add(script, device_options("boiler", interval));
    const MonoTime start = h.clock.mono_now();
    MonoTime due = h.step();
    std::int64_t off_the_grid = 0;
    for (std::int64_t step = 1; step <= 10'000; ++step) {
        const Duration late_by = step % 100 * 17us;  // up to five intervals
        h.clock.advance(due + late_by - h.clock.mono_now());
        due = h.step();
        off_the_grid += (due - start) % interval == 0ns && due > h.clock.mono_now() ? 0 : 1;
    }
    CHECK(off_the_grid == 0);
    const DeviceStatus status = h.sampler.status(DeviceId{0});
    CHECK(status.ticks_missed > 10'000);
    CHECK((due - start) / interval == static_cast<std::int64_t>(status.reads + status.ticks_missed));
}

TEST_CASE("a stall of a second is one read and a count of missed ticks, then the grid continues", "[device][sampler]") {
    const auto [interval, missed] =
        GENERATE(table<Duration, std::uint64_t>({{1ms, 999}, {100us, 9'999}, {333us, 3'002}, {1s, 0}}));
    CAPTURE(interval.count());
    SamplerHarness h;
    Script script;
    h.add(script, device_options("boiler", interval));
    const MonoTime start = h.clock.mono_now();
    h.step();
    const MonoTime next = h.step_after(1s);
    CHECK(next == start + (static_cast<std::int64_t>(missed) + 2) * interval);
    CHECK(h.step() == next);
    CHECK(script.reads.size() == 2);
    CHECK(h.sampler.status(DeviceId{0}).ticks_missed == missed);
    CHECK(h.step_after(next - h.clock.mono_now()) == next + interval);
    CHECK(h.sampler.status(DeviceId{0}).ticks_missed == missed);
    CHECK(h.drain().size() == 3);
}
