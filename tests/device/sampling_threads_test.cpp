#include "device/sampling_threads.hpp"

#include "simulated/simulated_driver.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "threads_harness.hpp"

#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>

#include <array>
#include <atomic>
#include <thread>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// A sampling thread on the real clock, with one scripted device.
struct ThreadHarness {
    explicit ThreadHarness(Duration interval, std::size_t capacity = 1'000,
                           OverflowPolicy policy = OverflowPolicy::drop_oldest)
        : queue(capacity, policy) {
        sampler.add(device_options("boiler", interval), std::make_unique<ScriptedDriver>(script));
    }
    ~ThreadHarness() { queue.close(); }  // releases a blocked sampler before the thread is joined

    DeviceStatus status() const { return sampler.status(device); }
    bool is_read(std::uint64_t times) {
        return eventually([&] { return status().reads >= times; });
    }

    const DeviceId device{0};
    Script script;
    SystemClock clock;
    ChannelTable channels;
    Ledger ledger{2, channels};
    QueueWaker waker;
    BoundedQueue<TelemetrySample> queue;
    Sampler sampler{clock, channels, {queue, ledger, waker}};
    SamplingThreads thread{sampler, clock};
};

/// With policy block and capacity for one sample, the sampler waits in the queue at its second sample.
struct BlockedHarness : ThreadHarness {
    BlockedHarness() : ThreadHarness(1ms, 1, OverflowPolicy::block) {
        thread.start();
        REQUIRE(is_read(2));
    }
    void unblock() { queue.resize(BoundedQueue<TelemetrySample>::capacity_max); }
};

}  // namespace

TEST_CASE("the thread reads its devices until it is stopped", "[device][thread]") {
    ThreadHarness h(1ms);
    h.thread.start();
    CHECK(h.is_read(20));
    h.thread.stop();
    CHECK(h.status().reads == h.script.reads.size());
    CHECK(h.queue.size() == h.ledger.cut()[0].queued);
}

TEST_CASE("the thread has its name and the finest timer slack", "[device][thread]") {
    ThreadHarness h(1h);
    std::array<char, 16> name{};
    int slack_ns = 0;
    h.script.on_read = [&](SampleBatch&) {
        ::pthread_getname_np(::pthread_self(), name.data(), name.size());
        slack_ns = ::prctl(PR_GET_TIMERSLACK);
    };
    h.thread.start();
    CHECK(h.is_read(1));
    h.thread.stop();
    CHECK(std::string(name.data()) == "tg-sample");
    CHECK(slack_ns == 1);
}

TEST_CASE("a command is executed immediately, however late the next deadline is", "[device][thread]") {
    ThreadHarness h(1h);
    h.thread.start();
    REQUIRE(h.is_read(1));
    const auto stopped = h.thread.run_command(h.device, DeviceCommand::stop, long_time);
    REQUIRE(stopped);
    CHECK(stopped->state == DeviceState::idle);
    const auto started = h.thread.run_command(h.device, DeviceCommand::start, long_time);
    REQUIRE(started);
    CHECK(started->state == DeviceState::measuring);
    CHECK(h.is_read(2));
}

TEST_CASE("a command that is not possible returns the state", "[device][thread]") {
    ThreadHarness h(1ms);
    h.script.fails_with = "no response";
    h.thread.start();
    REQUIRE(eventually([&] { return h.status().state == DeviceState::safe; }));
    const auto result = h.thread.run_command(h.device, DeviceCommand::start, long_time);
    REQUIRE(result);
    CHECK_FALSE(result->possible);
    CHECK(result->state == DeviceState::safe);
}

TEST_CASE("a command returns nothing before start and after stop", "[device][thread]") {
    ThreadHarness h(1ms);
    CHECK_FALSE(h.thread.run_command(h.device, DeviceCommand::stop, long_time));
    h.thread.start();
    CHECK(h.thread.run_command(h.device, DeviceCommand::stop, long_time));
    h.thread.stop();
    CHECK_FALSE(h.thread.run_command(h.device, DeviceCommand::start, long_time));
}

TEST_CASE("stop interrupts a long sleep, may be called twice, and the thread can be started again",
          "[device][thread]") {
    ThreadHarness h(1h);
    h.thread.stop();
    h.thread.start();
    h.thread.stop();
    h.thread.stop();
    h.thread.start();
    CHECK(h.thread.run_command(h.device, DeviceCommand::reset, long_time));
    h.thread.stop();
}

TEST_CASE("a thread that was restarted takes samples again", "[device][thread]") {
    ThreadHarness h(1ms, 20);
    h.thread.start();
    h.thread.stop();
    const std::uint64_t reads = h.status().reads;
    h.thread.start();
    CHECK(eventually([&] { return h.status().reads > reads; }));
    h.thread.stop();
}

TEST_CASE("stop works while the sampler waits in a full queue that is then closed", "[device][thread]") {
    BlockedHarness h;
    h.queue.close();
    h.thread.stop();
    const LedgerCounts counts = h.ledger.cut()[0];
    CHECK(counts.queued == 1);
    CHECK(counts.sampled == counts.queued + counts.dropped_total());
}

TEST_CASE("a command that timed out does not take effect later", "[device][thread]") {
    BlockedHarness h;
    CHECK_FALSE(h.thread.is_deaf(h.device));
    CHECK_FALSE(h.thread.run_command(h.device, DeviceCommand::stop, 1ms));
    CHECK(h.thread.is_deaf(h.device));
    h.unblock();
    const auto result = h.thread.run_command(h.device, DeviceCommand::reset, long_time);
    REQUIRE(result);
    CHECK(result->state == DeviceState::measuring);
}

TEST_CASE("at most commands_max commands wait; a further one fails immediately", "[device][thread]") {
    BlockedHarness h;
    std::atomic<std::size_t> answered{0};
    std::atomic<std::size_t> refused{0};
    std::vector<std::thread> callers;
    for (std::size_t caller = 0; caller <= SamplingThreads::commands_max; ++caller) {
        callers.emplace_back([&] {
            const auto result = h.thread.run_command(h.device, DeviceCommand::reset, long_time);
            ++(result ? answered : refused);
        });
    }
    CHECK(eventually([&] { return refused == 1; }));
    CHECK(answered == 0);
    h.unblock();
    for (std::thread& caller : callers) {
        caller.join();
    }
    CHECK(answered == SamplingThreads::commands_max);
    CHECK(refused == 1);
}

TEST_CASE("when the thread stops, pending commands return", "[device][thread]") {
    ThreadHarness h(1h);
    h.thread.start();
    std::atomic<int> calls{0};
    std::vector<std::thread> callers;
    for (int caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&] {
            while (h.thread.run_command(h.device, DeviceCommand::reset, long_time)) {
                ++calls;
            }
        });
    }
    CHECK(eventually([&] { return calls > 50; }));
    const MonoTime stopped = h.clock.mono_now();
    h.thread.stop();
    for (std::thread& caller : callers) {
        caller.join();
    }
    CHECK(h.clock.mono_now() - stopped < long_time / 2);
}

namespace {

/// Takes samples like the pump, until `stop` is set and the queue is empty.
void consume(ThreadHarness& h, const std::atomic<bool>& stop) {
    std::array<TelemetrySample, 64> samples;
    for (;;) {
        const bool last_round = stop.load();
        std::array<std::uint64_t, 2> taken{};
        const std::size_t count = h.queue.pop(samples);
        for (std::size_t index = 0; index < count; ++index) {
            ++taken[to_index(h.channels.at(samples[index].channel).device_id)];
        }
        h.ledger.taken(taken, taken);
        if (count == 0 && last_round) {
            return;
        }
        ::poll(nullptr, 0, 1);
    }
}

}  // namespace

TEST_CASE("the ledger balances while sampling, taking, commands and status run concurrently", "[device][thread]") {
    ThreadHarness h(1ms, 20);
    SimulatedDriverOptions options;
    options.error_probability = 0.05;
    options.burst_probability = 0.05;
    const DeviceId simulated =
        h.sampler.add(device_options("simulated", 1ms), make_simulated_driver(std::move(options)));
    std::atomic<bool> stop{false};
    std::atomic<bool> sampled_all{false};  // the consumer runs until no more samples come
    std::atomic<bool> balanced{true};
    h.thread.start();
    std::thread consumer([&] { consume(h, sampled_all); });
    std::thread commander([&] {
        while (!stop) {
            h.thread.run_command(simulated, DeviceCommand::stop, long_time);
            h.thread.run_command(simulated, DeviceCommand::start, long_time);
            h.thread.run_command(simulated, DeviceCommand::reset, long_time);
        }
    });
    CHECK(eventually([&] {
        for (const LedgerCounts& counts : h.ledger.cut()) {
            balanced = balanced && counts.balanced() && counts.queued <= counts.sampled;
        }
        return h.status().reads >= 200 && h.sampler.status(simulated).reads >= 200;
    }));
    stop = true;
    commander.join();
    h.thread.stop();
    sampled_all = true;
    consumer.join();
    CHECK(balanced);
    for (const LedgerCounts& counts : h.ledger.cut()) {
        CHECK(counts.queued == 0);
        CHECK(counts.sampled == counts.published + counts.dropped_total());
    }
}

TEST_CASE("a thread that meets its deadlines, or has none, is not overdue", "[device][thread]") {
    ThreadHarness h(1h);
    CHECK(h.thread.overdue(h.clock.mono_now()) == 0s);
    h.thread.start();
    CHECK(h.is_read(1));
    CHECK(eventually([&] { return h.thread.overdue(h.clock.mono_now() + 59min) == 0s; }));
    REQUIRE(h.thread.run_command(h.device, DeviceCommand::stop, long_time));
    CHECK(eventually([&] { return h.thread.overdue(h.clock.mono_now() + 24h) == 0s; }));
    h.thread.stop();
    CHECK(h.thread.overdue(h.clock.mono_now() + 24h) == 0s);
}

TEST_CASE("a thread that a driver blocks is overdue for as long as it is blocked", "[device][thread]") {
    ThreadHarness h(1h);
    std::atomic<bool> held{true};
    h.script.on_read = [&](SampleBatch&) {
        (void)eventually([&] { return !held; }, long_time);
    };
    h.thread.start();
    CHECK(eventually([&] { return h.thread.overdue(h.clock.mono_now()) > 20ms; }));
    CHECK_FALSE(h.sampler.waits_for_room());
    held = false;
    CHECK(eventually([&] { return h.thread.overdue(h.clock.mono_now()) == 0s; }));
}

TEST_CASE("a sampler that waits for queue capacity reports it", "[device][thread]") {
    BlockedHarness h;
    CHECK(eventually([&] { return h.sampler.waits_for_room(); }));
    CHECK(eventually([&] { return h.thread.overdue(h.clock.mono_now()) > 20ms; }));
    h.unblock();
    CHECK(eventually([&] { return !h.sampler.waits_for_room(); }));
}

TEST_CASE("a change is applied by the running thread", "[device][thread]") {
    ThreadHarness h(1ms);
    h.thread.start();
    Script pump;
    DeviceChange change;
    change.set.push_back({device_options("pump", 1ms), std::make_unique<ScriptedDriver>(pump)});
    const auto prepared = h.sampler.prepare(std::move(change));
    CHECK(h.thread.run_change(prepared, long_time));
    const DeviceId added = h.sampler.find("pump").value();
    CHECK(eventually([&] { return h.sampler.status(added).reads >= 20; }));
    h.thread.stop();
}

TEST_CASE("a change that timed out is not applied later", "[device][thread]") {
    BlockedHarness h;
    DeviceChange change;
    change.removed.emplace_back("boiler");
    const auto prepared = h.sampler.prepare(std::move(change));
    CHECK_FALSE(h.thread.run_change(prepared, 1ms));
    h.unblock();
    CHECK(h.is_read(5));
    CHECK(h.sampler.find("boiler"));
    h.queue.close();
    h.thread.stop();
}
