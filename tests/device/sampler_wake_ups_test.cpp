#include "sampler_harness.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <optional>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// The consumer of a sampler in low-power mode, in simulated time: it takes everything in the queue when it is woken.
struct IdleConsumer {
    static constexpr auto delay = 950ms;

    explicit IdleConsumer(SamplerHarness& the_harness) : h(the_harness) { h.waker.begin_low_power(delay); }

    void run_for(Duration time) {
        const MonoTime end = h.clock.mono_now() + time;
        MonoTime next = h.clock.mono_now();
        while (std::min(next, due.value_or(end)) < end) {
            h.clock.advance(std::min(next, due.value_or(end)) - h.clock.mono_now());
            if (due == h.clock.mono_now()) {
                h.waker.clear_late();
                due.reset();
                receive();
                continue;
            }
            next = h.step();
            notice_wake_ups();
        }
        h.clock.advance(end - h.clock.mono_now());
    }
    void notice_wake_ups() {
        if (h.waker.timers() != timers) {
            timers = h.waker.timers();
            due = h.clock.mono_now() + delay;
        }
        if (h.waker.signaled() != signaled) {
            signaled = h.waker.signaled();
            h.waker.clear();
            receive();
        }
    }
    void receive() {
        ++wake_ups;
        for (const TelemetrySample& sample : h.drain()) {
            ++samples;
            longest = std::max(longest, Duration(to_ns(h.clock.mono_now()) - sample.time_mono_ns));
        }
    }

    SamplerHarness& h;
    std::optional<MonoTime> due;  // of the timer
    unsigned long long timers = 0;
    unsigned long long signaled = 0;
    int wake_ups = 0;
    int samples = 0;
    Duration longest{0};  // that a sample waited
};

}  // namespace

TEST_CASE("without subscribers, no sample waits longer than the delay, and there is at most one wake-up per delay",
          "[device][sampler]") {
    const auto interval = GENERATE(Duration(10ms), Duration(100ms), Duration(1s), Duration(7s), Duration(1h));
    CAPTURE(interval.count());
    SamplerHarness h(100'000);
    Script script;
    for (const char* name : {"a", "b", "c"}) {
        DeviceOptions options = device_options(name, interval);
        options.alignment = Alignment::spread;
        h.add(script, std::move(options));
    }
    IdleConsumer consumer(h);
    const Duration time = interval == Duration(1h) ? Duration(10h) : Duration(60s);
    consumer.run_for(time);
    consumer.run_for(consumer.delay);  // the wake-up that is owed for the last sample
    CHECK(consumer.samples + static_cast<int>(h.queue.size()) == static_cast<int>(script.reads.size()));
    CHECK(consumer.longest <= consumer.delay);
    CHECK(consumer.wake_ups <= consumer.samples);
    CHECK(consumer.wake_ups <= (time + 2 * consumer.delay) / consumer.delay);
}

TEST_CASE("the last samples of a device that is stopped, removed, slowed down or enters safe do not wait",
          "[device][sampler]") {
    const int how = GENERATE(0, 1, 2, 3);
    SamplerHarness h;
    Script script;
    const DeviceId device = h.add(script, device_options("a", 10ms));
    IdleConsumer consumer(h);
    consumer.run_for(1s);
    if (how == 0) {
        h.command(device, DeviceCommand::stop);
    } else if (how == 1) {
        h.sampler.apply(*h.sampler.prepare({.set = {}, .adjusted = {}, .removed = {"a"}}));
    } else if (how == 2) {
        h.sampler.apply(*h.sampler.prepare({.set = {}, .adjusted = {device_options("a", 1h)}, .removed = {}}));
    } else {
        script.fails_with = "gone";
    }
    consumer.run_for(1s);
    CHECK(h.queue.size() == 0);
    CHECK(consumer.samples == static_cast<int>(script.reads.size()));
    CHECK((how < 3 || h.state(device) == DeviceState::safe));
}

TEST_CASE("a batch that the queue refuses also wakes a consumer in low-power mode, which reports the loss",
          "[device][sampler]") {
    SamplerHarness h;
    h.queue.close();
    Script script;
    h.add(script, device_options("a", 1h));
    IdleConsumer consumer(h);
    consumer.run_for(2s);
    CHECK(consumer.wake_ups == 1);
}
