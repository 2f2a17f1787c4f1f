#pragma once

#include "device/sampler.hpp"
#include "scripted_driver.hpp"
#include "support/manual_clock.hpp"

#include <vector>

namespace telegate::test {

inline DeviceOptions device_options(std::string name, Duration interval = std::chrono::seconds(1)) {
    DeviceOptions options;
    options.name = std::move(name);
    options.interval = interval;
    return options;
}

/// A sampler with its environment. Time stands still until the test advances it.
struct SamplerHarness {
    static constexpr std::size_t devices_max = 4;

    explicit SamplerHarness(std::size_t capacity = 1'000, OverflowPolicy policy = OverflowPolicy::drop_oldest)
        : queue(capacity, policy) {}

    DeviceId add(Script& script, DeviceOptions options) {
        return sampler.add(std::move(options), std::make_unique<ScriptedDriver>(script));
    }
    MonoTime step() { return sampler.step(clock.mono_now()); }
    MonoTime step_after(std::chrono::nanoseconds time) {
        clock.advance(time);
        return step();
    }
    CommandResult command(DeviceId device, DeviceCommand command) { return sampler.command(device, command); }
    DeviceState state(DeviceId device) const { return sampler.status(device).state; }
    LedgerCounts counts(DeviceId device) const { return ledger.cut().at(to_index(device)); }

    std::vector<TelemetrySample> drain() {
        std::vector<TelemetrySample> samples(queue.capacity());
        samples.resize(queue.pop(samples));
        return samples;
    }

    ManualClock clock;
    ChannelTable channels;
    BoundedQueue<TelemetrySample> queue;
    Ledger ledger{devices_max, channels};
    QueueWaker waker;
    Sampler sampler{clock, channels, {queue, ledger, waker}};
};

}  // namespace telegate::test
