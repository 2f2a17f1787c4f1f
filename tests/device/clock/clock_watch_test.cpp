#include "device/clock_watch.hpp"

#include "device/nanoseconds.hpp"
#include "simulated_clock.hpp"
#include "support/catch.hpp"

#include <atomic>
#include <limits>
#include <thread>

using namespace telegate;
using namespace telegate::test;

TEST_CASE("the state of the clock is what the kernel reports", "[device][clock]") {
    SimulatedClock clock;
    ClockWatch watch(clock.source());
    const ClockStatus status = watch.status();
    CHECK(status.reading.sync == ClockSync::synchronized);
    CHECK(status.reading.error_estimated_s == Approx(0.0005));
    CHECK(status.reading.error_maximum_s == Approx(0.02));
    CHECK(status.offset_ns == clock.next.utc_ns - clock.next.mono_ns);
    CHECK(status.steps == 0);
    CHECK_FALSE(status.last_step);
    clock.next.sync = ClockSync::unsynchronized;
    CHECK(watch.read().reading.sync == ClockSync::unsynchronized);
}

TEST_CASE("a running or slewed clock has no steps", "[device][clock]") {
    SimulatedClock clock;
    ClockWatch watch(clock.source());
    clock.pass(10 * second_ns);
    watch.read();
    clock.pass(10 * second_ns);
    clock.step(5 * millisecond_ns, false);  // 500 ppm of 10 s, plus 1 ms
    CHECK(watch.read().steps == 0);
    clock.step(999'000, false);
    CHECK(watch.read().steps == 0);
}

TEST_CASE("a step that the kernel does not report is detected from its size", "[device][clock]") {
    SimulatedClock clock;
    ClockWatch watch(clock.source());
    const std::int64_t size = GENERATE(2 * millisecond_ns, -2 * millisecond_ns, 3'600 * second_ns, -3'600 * second_ns);
    clock.pass(second_ns);
    clock.step(size, false);
    const ClockStatus status = watch.read();
    CHECK(status.steps == 1);
    REQUIRE(status.last_step);
    CHECK(status.last_step->seconds == Approx(static_cast<double>(size) / 1e9));
    CHECK(status.last_step->time_utc_ns == clock.next.utc_ns);
    CHECK(status.offset_ns == clock.next.utc_ns - clock.next.mono_ns);
    clock.pass(second_ns);
    CHECK(watch.read().steps == 1);
}

TEST_CASE("a step that the kernel reports counts regardless of its size", "[device][clock]") {
    SimulatedClock clock;
    ClockWatch watch(clock.source());
    clock.pass(second_ns);
    clock.step(50'000, true);
    CHECK(watch.read().steps == 1);
    clock.pass(second_ns);
    clock.step(-50'000, true);
    const ClockStatus status = watch.read();
    CHECK(status.steps == 2);
    CHECK(status.stepped_s == Approx(0.0).margin(1e-12));
    CHECK(status.last_step->seconds == Approx(-0.00005));
}

TEST_CASE("setting a clock to its current time is not a step", "[device][clock]") {
    SimulatedClock clock;
    ClockWatch watch(clock.source());
    clock.pass(second_ns);
    clock.step(0, true);
    CHECK(watch.read().steps == 0);
}

TEST_CASE("a long interval between reading the two clocks is not a step", "[device][clock]") {
    SimulatedClock clock;
    ClockWatch watch(clock.source());
    clock.pass(second_ns);
    clock.next.between_ns = 20 * millisecond_ns;
    clock.step(10 * millisecond_ns, false);
    CHECK(watch.read().steps == 0);
    clock.step(-10 * millisecond_ns, false);
    clock.next.between_ns = 100;
    CHECK(watch.read().steps == 0);
}

TEST_CASE("the synchronization state is read at most once a second", "[device][clock]") {
    SimulatedClock clock;
    ClockWatch watch(clock.source());
    const std::int64_t begin = clock.next.mono_ns;
    CHECK(clock.reads == 1);
    for (std::int64_t ns = 0; ns <= second_ns; ns += 100 * millisecond_ns) {
        CHECK_FALSE(watch.is_unsynchronized(begin + ns));
    }
    CHECK(clock.reads == 1);
    clock.next.sync = ClockSync::unsynchronized;
    clock.pass(2 * second_ns);
    CHECK(watch.is_unsynchronized(begin + 2 * second_ns));
    CHECK(watch.is_unsynchronized(begin + 2 * second_ns + 1));
    CHECK(clock.reads == 2);
}

TEST_CASE("an unknown state is not reported as unsynchronized", "[device][clock]") {
    SimulatedClock clock;
    clock.next.sync = ClockSync::unknown;
    clock.next.failure = 38;
    ClockWatch watch(clock.source());
    CHECK_FALSE(watch.is_unsynchronized(clock.next.mono_ns));
    CHECK(watch.status().reading.failure == 38);
}

TEST_CASE("several threads can read the clock", "[device][clock]") {
    ClockWatch watch;
    std::atomic<bool> is_over{false};
    std::thread other([&] {
        while (!is_over) {
            static_cast<void>(watch.is_unsynchronized(std::numeric_limits<std::int64_t>::max()));
        }
    });
    for (int look = 0; look < 2'000; ++look) {
        CHECK(watch.read().reading.utc_ns > 0);
    }
    is_over = true;
    other.join();
    CHECK(watch.status().steps < 1'000);
}

TEST_CASE("the kernel of this machine reports a state", "[device][clock]") {
    const auto source = make_kernel_clock_source();
    const ClockReading reading = source->read();
    CHECK(reading.utc_ns > 1'600'000'000'000'000'000);
    CHECK(reading.mono_ns > 0);
    CHECK(reading.between_ns >= 0);
    CHECK_FALSE(reading.was_set);
    CHECK((reading.sync != ClockSync::unknown) == (reading.failure == 0));  // if adjtimex() is permitted
    CHECK(machine_clock_watch() == machine_clock_watch());
}
