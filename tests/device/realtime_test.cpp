#include "device/sampling_threads.hpp"

#include "sampler_harness.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/first_processor.hpp"

#include <pthread.h>

#include <array>
#include <atomic>
#include <thread>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

TEST_CASE(
    "a real-time thread that frees capacity in a full queue lets an ordinary thread on its "
    "processor finish its push",
    "[device][schedule]") {
    SystemClock clock;
    Script script;
    script.on_read = [](SampleBatch& batch) {
        for (std::int64_t value = 0; value < 1'024; ++value) {
            batch.add(SampleBatch::Channel{0}, value);
        }
    };
    SamplerHarness h(512);
    h.add(script, device_options("boiler", 200us));
    const unsigned processor = first_processor();
    SamplingThreads thread(h.sampler, clock, {1, {processor}});
    std::atomic<bool> stop{false};
    std::thread consumer([&] {
        (void)schedule_thread(::pthread_self(), {0, {processor}});
        std::array<TelemetrySample, 256> samples;
        while (!stop) {
            h.queue.pop(samples);
        }
    });
    thread.start();
    CHECK(eventually([&] { return h.sampler.status(DeviceId{0}).reads >= 500; }));
    stop = true;
    thread.stop();
    consumer.join();
}
