#include "device/sampler.hpp"

#include "support/catch.hpp"
#include "threads_harness.hpp"

#include <poll.h>

#include <thread>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

std::uint64_t dropped(const LedgerCounts& counts, DropReason reason) {
    return counts.dropped.at(static_cast<std::size_t>(reason));
}

std::vector<std::string> channel_names(std::size_t count) {
    std::vector<std::string> names;
    for (std::size_t index = 0; index < count; ++index) {
        names.push_back(std::to_string(index));
    }
    return names;
}

}  // namespace

TEST_CASE("an evicted sample counts for the device that produced it", "[device][sampler][ledger]") {
    SamplerHarness h(2);
    Script first{.channels = {"a", "b"}};
    Script second;
    h.add(first, device_options("first"));
    h.add(second, device_options("second"));
    h.step();
    CHECK(dropped(h.counts(DeviceId{0}), DropReason::queue_overflow) == 1);
    CHECK(h.counts(DeviceId{0}).queued == 1);
    CHECK(h.counts(DeviceId{1}).dropped_total() == 0);
    CHECK(h.counts(DeviceId{1}).queued == 1);
    CHECK(h.ledger.drops_of(ChannelId{0}).first_seq == 1);
}

TEST_CASE("a refused sample counts for its own device", "[device][sampler][ledger]") {
    SamplerHarness h(2, OverflowPolicy::drop_newest);
    Script first{.channels = {"a", "b"}};
    Script second;
    h.add(first, device_options("first"));
    h.add(second, device_options("second"));
    h.step();
    CHECK(h.counts(DeviceId{0}).queued == 2);
    CHECK(dropped(h.counts(DeviceId{1}), DropReason::queue_overflow) == 1);
    CHECK(h.counts(DeviceId{1}).sampled == 1);
}

TEST_CASE("a device that floods the queue loses only its own samples", "[device][sampler][ledger]") {
    const auto policy = GENERATE(OverflowPolicy::drop_oldest, OverflowPolicy::drop_newest);
    CAPTURE(to_string(policy));
    Bus bus;  // outlives its driver
    bus.samples = 200;
    bus.streams = true;
    Script calm;
    SamplerHarness h(100, policy);
    const DeviceId flooding = h.sampler.add(device_options("flooding"), std::make_unique<WaitingDriver>(bus));
    const DeviceId other = h.add(calm, device_options("other"));
    for (int second = 0; second < 25; ++second) {  // the share of each thread
        h.sampler.step_own(flooding, h.clock.mono_now());
        h.step_after(1s);
    }
    CHECK(h.counts(other).queued == 25);
    CHECK(h.counts(flooding).queued == 75);
    CHECK(h.counts(flooding).dropped_total() == 25 * 200 - 75);
}

TEST_CASE("samples offered to a closed queue count as dropped in the shutdown", "[device][sampler][ledger]") {
    SamplerHarness h;
    Script script{.channels = {"a", "b"}};
    h.add(script, device_options("boiler"));
    h.queue.close();
    h.step();
    const LedgerCounts counts = h.counts(DeviceId{0});
    CHECK(counts.sampled == 2);
    CHECK(dropped(counts, DropReason::shutdown) == 2);
    CHECK(counts.queued == 0);
}

TEST_CASE("a tick with more samples than the batch or the queue holds is fully accounted for",
          "[device][sampler][ledger]") {
    SamplerHarness h(100);
    Script script{.channels = channel_names(1'000)};
    h.add(script, device_options("boiler"));
    h.step();
    const LedgerCounts counts = h.counts(DeviceId{0});
    CHECK(counts.sampled == 1'000);
    CHECK(dropped(counts, DropReason::queue_overflow) == 900);
    CHECK(counts.queued == 100);
    CHECK(h.drain().size() == 100);
}

TEST_CASE("a tick wakes the consumer once", "[device][sampler][ledger]") {
    SamplerHarness h;
    Script script{.channels = {"a", "b"}};
    h.add(script, device_options("boiler"));
    h.step();
    CHECK(h.waker.signaled() == 1);
    h.waker.clear();
    h.step_after(1s);
    CHECK(h.waker.signaled() == 2);
}

TEST_CASE("a tick whose samples were all dropped wakes the consumer, which reports the loss",
          "[device][sampler][ledger]") {
    SamplerHarness h(1, OverflowPolicy::drop_newest);
    Script script;
    h.add(script, device_options("boiler"));
    h.step();
    h.waker.clear();
    h.step_after(1s);
    CHECK(h.waker.signaled() == 2);
}

namespace {

/// Takes samples like the pump: asleep until woken, then everything available.
class WokenConsumer {
  public:
    explicit WokenConsumer(SamplerHarness& harness) : h(harness) {}

    /// Runs until `wanted` samples have come, or none has come for a long time.
    void run(std::size_t wanted) {
        while (taken < wanted) {
            pollfd woken{h.waker.descriptor(), POLLIN, 0};
            if (::poll(&woken, 1, 60'000) != 1) {
                return h.queue.close();
            }
            h.waker.clear();
            drain();
        }
    }

    std::size_t taken = 0;
    bool known_before_taken = true;  // reported to the ledger

  private:
    void drain() {
        std::array<TelemetrySample, 8> some;
        for (std::size_t count = h.queue.pop(some); count > 0; count = h.queue.pop(some)) {
            taken += count;
            known_before_taken = known_before_taken && h.counts(DeviceId{0}).sampled >= taken;
            h.ledger.taken(std::array<std::uint64_t, SamplerHarness::devices_max>{count},
                           std::array<std::uint64_t, SamplerHarness::devices_max>{count});
        }
    }

    SamplerHarness& h;
};

}  // namespace

TEST_CASE("with policy block a sleeping consumer is woken by the samples that fill the queue",
          "[device][sampler][ledger]") {
    const std::size_t capacity = GENERATE(std::size_t{1}, std::size_t{5});
    SamplerHarness h(capacity, OverflowPolicy::block);
    Script script{.channels = channel_names(500)};
    h.add(script, device_options("boiler", 1ms));
    WokenConsumer consumer(h);
    std::thread thread([&] { consumer.run(2'000); });
    for (int tick = 0; tick < 4; ++tick) {
        h.step_after(1ms);
    }
    thread.join();
    CHECK(consumer.taken == 2'000);
    CHECK(consumer.known_before_taken);
    CHECK(h.counts(DeviceId{0}).published == 2'000);
    CHECK(h.counts(DeviceId{0}).queued == 0);
}
