#include "device/thread_schedule.hpp"

#include "device/sampling_threads.hpp"
#include "sampler_harness.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/scheduling.hpp"

#include <pthread.h>
#include <sched.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <thread>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// The scheduling parameters of a thread, as seen by the thread itself.
struct SeenSchedule {
    int policy = -1;
    int priority = -1;
    cpu_set_t processors{};
};

SeenSchedule schedule_of_this_thread() {
    SeenSchedule seen;
    sched_param parameters{};
    seen.policy = ::sched_getscheduler(0);
    ::sched_getparam(0, &parameters);
    seen.priority = parameters.sched_priority;
    ::sched_getaffinity(0, sizeof seen.processors, &seen.processors);
    return seen;
}

constexpr int priority = 7;

/// Returns whether this thread may create real-time threads. Not every user who runs the tests may.
bool may_have_priority() {
    bool may = false;
    std::thread([&may] {
        sched_param parameters{};
        parameters.sched_priority = priority;
        may = ::sched_setscheduler(0, SCHED_FIFO, &parameters) == 0;
    }).join();
    return may;
}

/// A sampling thread with a schedule, and what its first read found.
struct ScheduledThread {
    explicit ScheduledThread(ThreadSchedule schedule) : thread(h.sampler, clock, std::move(schedule)) {
        script.on_read = [this](SampleBatch&) {
            seen = schedule_of_this_thread();
        };
        h.add(script, device_options("boiler", 1h));
        thread.start();
        CHECK(eventually([this] { return h.sampler.status(DeviceId{0}).reads == 1; }));
        thread.stop();
    }

    SystemClock clock;
    Script script;
    SamplerHarness h;
    SeenSchedule seen;
    SamplingThreads thread;
};

}  // namespace

TEST_CASE("a sampling thread is ordinary unless configured otherwise", "[device][schedule]") {
    const ScheduledThread t({});
    CHECK(t.seen.policy == SCHED_OTHER);
    CHECK(t.thread.schedule().in_force.realtime_priority == 0);
    CHECK(t.thread.schedule().in_force.processors.empty());
    CHECK_FALSE(t.thread.schedule().priority_refused);
    CHECK_FALSE(t.thread.schedule().processors_refused);
}

TEST_CASE("a real-time priority is in force at the first read, or is reported as refused", "[device][schedule]") {
    const ScheduledThread t({priority, {}});
    const bool granted = may_have_priority();
    CHECK(t.seen.policy == (granted ? SCHED_FIFO : SCHED_OTHER));
    CHECK(t.seen.priority == (granted ? priority : 0));
    CHECK(t.thread.schedule().in_force.realtime_priority == t.seen.priority);
    CHECK(t.thread.schedule().priority_refused.value() == (granted ? 0 : EPERM));
}

TEST_CASE("a thread whose priority is refused runs as an ordinary thread", "[device][schedule]") {
    without_nice([] {
        REQUIRE_FALSE(may_have_priority());
        const ScheduledThread t({priority, {}});
        CHECK(t.seen.policy == SCHED_OTHER);
        CHECK(t.thread.schedule().wanted.realtime_priority == priority);
        CHECK(t.thread.schedule().in_force.realtime_priority == 0);
        CHECK(t.thread.schedule().priority_refused.value() == EPERM);
    });
}

TEST_CASE("a sampling thread runs on the given processors", "[device][schedule]") {
    const unsigned processor = first_processor();
    const ScheduledThread t({0, {processor}});
    CHECK(CPU_COUNT(&t.seen.processors) == 1);
    CHECK(CPU_ISSET(processor, &t.seen.processors));
    CHECK(t.thread.schedule().in_force.processors == std::vector<unsigned>{processor});
}

TEST_CASE("missing processors are ignored, and refused if none is left", "[device][schedule]") {
    const unsigned processor = first_processor();
    const ScheduledThread some({0, {processor, ThreadSchedule::processor_max}});
    CHECK(some.thread.schedule().in_force.processors == std::vector<unsigned>{processor});
    CHECK_FALSE(some.thread.schedule().processors_refused);
    const ScheduledThread none({0, {ThreadSchedule::processor_max}});
    CHECK(none.thread.schedule().in_force.processors.empty());
    CHECK(none.thread.schedule().processors_refused.value() == EINVAL);
    CHECK(CPU_ISSET(processor, &none.seen.processors));
}

TEST_CASE("the machine has at least the processors that this process may use", "[device][schedule]") {
    const SeenSchedule seen = schedule_of_this_thread();
    CHECK(processor_count() >= static_cast<unsigned>(CPU_COUNT(&seen.processors)));
    CHECK(processor_count() > first_processor());
}

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
