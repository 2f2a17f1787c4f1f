#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "threads_harness.hpp"

#include <array>
#include <atomic>
#include <set>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

TEST_CASE("a device that may block has its own thread, with its name", "[device][own]") {
    ThreadsHarness h;
    const DeviceId device = h.add(h.buses[0], "boiler-room");
    h.threads.start();
    REQUIRE(h.is_read(h.buses[0], 3));
    h.threads.stop();
    CHECK(std::string(h.buses[0].thread.data()) == "tg-bus-boiler-r");
    CHECK(h.status(device).thread == "tg-bus-boiler-r");
    CHECK(h.status(device).breaker == BreakerState::closed);
    CHECK(h.numbers_are_whole());
}

TEST_CASE("a hanging device does not delay any other device", "[device][own]") {
    ThreadsHarness h;
    h.buses[0].hangs = true;
    h.buses[0].heeds_cancel = false;
    h.add(h.buses[0], "hanging");
    h.add(h.buses[1], "good");
    const DeviceId shared =
        h.sampler.add(device_options("shared", 1ms), std::make_unique<ScriptedDriver>(h.scripts[0]));
    h.threads.start();
    REQUIRE(eventually([&] { return h.buses[0].reading == 1; }));
    CHECK(h.is_read(h.buses[1], 20));
    CHECK(eventually([&] { return h.status(shared).reads >= 20; }));
    CHECK(h.buses[0].reads == 0);
}

TEST_CASE("stop ends a waiting read", "[device][own]") {
    ThreadsHarness h;
    h.buses[0].hangs = true;
    h.add(h.buses[0]);
    h.threads.start();
    REQUIRE(eventually([&] { return h.buses[0].reading == 1; }));
    h.threads.stop();
    CHECK(h.buses[0].reads == 1);
}

TEST_CASE("a hanging device executes a command immediately, without a failure", "[device][own]") {
    ThreadsHarness h;
    h.buses[0].hangs = true;
    const DeviceId device = h.add(h.buses[0]);
    h.threads.start();
    REQUIRE(eventually([&] { return h.buses[0].reading == 1; }));
    const auto stopped = h.threads.run_command(device, DeviceCommand::stop, long_time);
    REQUIRE(stopped);
    CHECK(stopped->state == DeviceState::idle);
    CHECK(h.status(device).reads_failed == 0);
    h.buses[0].hangs = false;
    REQUIRE(h.threads.run_command(device, DeviceCommand::start, long_time));
    CHECK(h.is_read(h.buses[0], 3));
}

TEST_CASE("only a thread that does not respond to a command in time is deaf", "[device][own]") {
    ThreadsHarness h;
    h.buses[0].hangs = true;
    h.buses[0].heeds_cancel = false;
    const DeviceId hanging = h.add(h.buses[0], "hanging");
    const DeviceId good = h.add(h.buses[1], "good");
    h.threads.start();
    REQUIRE(eventually([&] { return h.buses[0].reading == 1; }));
    CHECK_FALSE(h.threads.run_command(hanging, DeviceCommand::stop, 1ms));
    CHECK(h.threads.is_deaf(hanging));
    CHECK_FALSE(h.threads.is_deaf(good));
    CHECK(h.threads.run_command(good, DeviceCommand::reset, long_time));
}

TEST_CASE("a device that fails repeatedly is not read for a while, and is then tried again", "[device][own][breaker]") {
    ThreadsHarness h;
    h.buses[0].fails_with = "no response";
    DeviceOptions options = device_options("bus", 1ms);
    options.breaker = {.failures = 3, .wait = 50ms, .wait_max = 50ms};
    const DeviceId device = h.sampler.add(std::move(options), std::make_unique<WaitingDriver>(h.buses[0]));
    h.threads.start();
    REQUIRE(eventually([&] { return h.status(device).breaker == BreakerState::open; }));
    CHECK(h.status(device).state == DeviceState::error);
    CHECK(h.status(device).last_error == "no response");
    CHECK(eventually([&] { return h.status(device).reads_skipped > 10 && h.status(device).consecutive_failures > 3; }));
    h.buses[0].fails_with = nullptr;
    CHECK(eventually([&] { return h.status(device).breaker == BreakerState::closed; }));
    CHECK(h.status(device).state == DeviceState::measuring);
}

TEST_CASE("a streaming device is read again immediately, and at its interval while it fails", "[device][own]") {
    ThreadsHarness h;
    h.buses[0].streams = true;
    const DeviceId device = h.add(h.buses[0], "bus", 1h);
    h.threads.start();
    REQUIRE(h.is_read(h.buses[0], 3));
    CHECK(h.status(device).ticks_missed == 0);
    h.buses[0].fails_with = "gone";
    CHECK(eventually([&] { return h.status(device).state == DeviceState::error; }));
    const int reads = h.buses[0].reads;
    CHECK(h.threads.run_command(device, DeviceCommand::reset, long_time));
    CHECK(eventually([&] { return h.buses[0].reads > reads; }));
}

TEST_CASE("another driver continues the numbers after the previous one has ended", "[device][own][change]") {
    ThreadsHarness h;
    const DeviceId device = h.add(h.buses[0]);
    h.threads.start();
    REQUIRE(h.is_read(h.buses[0], 3));
    h.buses[0].hangs = true;
    h.buses[0].heeds_cancel = false;
    REQUIRE(eventually([&] { return h.buses[0].reading == 1; }));
    const int reads = h.buses[0].reads;
    REQUIRE(h.set(h.buses[1]));
    CHECK(h.sampler.find("bus") == device);
    CHECK(h.buses[1].reads == 0);
    h.buses[0].hangs = false;
    REQUIRE(h.is_read(h.buses[1], 3));
    CHECK(eventually([&] { return h.buses[0].drivers == 0; }));
    CHECK(h.buses[0].reads == reads + 1);
    h.threads.stop();
    CHECK(h.numbers_are_whole());
}

TEST_CASE("a hanging device can be removed and added again", "[device][own][change]") {
    ThreadsHarness h;
    h.buses[0].hangs = true;
    h.buses[0].heeds_cancel = false;
    const DeviceId device = h.add(h.buses[0]);
    h.threads.start();
    REQUIRE(eventually([&] { return h.buses[0].reading == 1; }));
    REQUIRE(h.remove());
    CHECK_FALSE(h.sampler.find("bus"));
    REQUIRE(h.set(h.buses[1]));
    CHECK(h.sampler.find("bus") == device);
    h.buses[0].hangs = false;
    REQUIRE(h.is_read(h.buses[1], 3));
    CHECK(h.sampler.find("bus") == device);
    CHECK(eventually([&] { return h.buses[0].drivers == 0; }));
    h.threads.stop();
    CHECK(h.numbers_are_whole());
}

TEST_CASE("no other thread executes a command for a device whose removal is pending", "[device][own][change]") {
    ThreadsHarness h;
    const DeviceId device = h.add(h.buses[0]);
    h.buses[0].heeds_cancel = false;
    h.buses[0].hangs = true;
    h.threads.start();
    REQUIRE(eventually([&] { return h.buses[0].reading == 1; }));
    REQUIRE(h.remove());
    CHECK_FALSE(h.threads.run_command(device, DeviceCommand::reset, long_time).has_value());
    CHECK(h.buses[0].resets_within_read == 0);
}

TEST_CASE("a device that was replaced and removed before its old driver has ended does not return",
          "[device][own][change]") {
    ThreadsHarness h;
    h.add(h.buses[0]);
    h.buses[0].heeds_cancel = false;
    h.buses[0].hangs = true;
    h.threads.start();
    REQUIRE(eventually([&] { return h.buses[0].reading == 1; }));
    REQUIRE(h.set(h.buses[1]));
    REQUIRE(h.remove());
    CHECK_FALSE(h.sampler.find("bus").has_value());
    h.buses[0].hangs = false;
    CHECK(eventually([&] { return h.buses[0].drivers + h.buses[1].drivers == 0; }));
    CHECK_FALSE(h.sampler.find("bus").has_value());
    CHECK(h.sampler.devices().empty());
}

TEST_CASE("a device gets its own thread by a change, and keeps it", "[device][own][change]") {
    ThreadsHarness h;
    const DeviceId device = h.sampler.add(device_options("bus", 1ms), std::make_unique<ScriptedDriver>(h.scripts[0]));
    h.threads.start();
    REQUIRE(eventually([&] { return h.status(device).reads >= 3; }));
    REQUIRE(h.set(h.buses[0]));
    REQUIRE(h.is_read(h.buses[0], 3));
    CHECK(h.status(device).thread == "tg-bus-bus");
    DeviceChange change;
    change.set.push_back({device_options("bus", 1ms), std::make_unique<ScriptedDriver>(h.scripts[1])});
    REQUIRE(h.change(std::move(change)));
    const std::uint64_t reads = h.status(device).reads;
    CHECK(eventually([&] { return h.status(device).reads >= reads + 3; }));
    CHECK(h.status(device).thread == "tg-bus-bus");
    h.threads.stop();
    CHECK_FALSE(h.scripts[1].reads.empty());
    CHECK(h.numbers_are_whole());
}

TEST_CASE("a device that gets its own thread is read after its earlier samples have left the queue",
          "[device][own][change]") {
    ThreadsHarness h;
    const DeviceId device = h.sampler.add(device_options("bus", 1ms), std::make_unique<ScriptedDriver>(h.scripts[0]));
    h.threads.start();
    REQUIRE(eventually([&] { return h.status(device).reads >= 3; }));
    REQUIRE(h.set(h.buses[0]));
    CHECK_FALSE(eventually([&] { return h.buses[0].reads > 0; }, 50ms));
    h.receive();
    CHECK(h.is_read(h.buses[0], 3));
    h.threads.stop();
    CHECK(h.numbers_are_whole());
}

TEST_CASE("a removed device returns on its own thread after its earlier samples", "[device][own][change]") {
    ThreadsHarness h;
    const DeviceId device = h.sampler.add(device_options("bus", 1ms), std::make_unique<ScriptedDriver>(h.scripts[0]));
    h.threads.start();
    REQUIRE(eventually([&] { return h.status(device).reads >= 3; }));
    REQUIRE(h.remove());
    REQUIRE(h.set(h.buses[0]));
    CHECK_FALSE(eventually([&] { return h.buses[0].reads > 0; }, 50ms));
    CHECK(h.is_read(h.buses[0], 3));
    h.threads.stop();
    CHECK(h.numbers_are_whole());
}

TEST_CASE("a new interval takes effect on a sleeping thread", "[device][own][change]") {
    ThreadsHarness h;
    const DeviceId device = h.add(h.buses[0], "bus", 1h);
    h.threads.start();
    REQUIRE(h.is_read(h.buses[0], 1));
    DeviceChange change;
    change.adjusted.push_back(device_options("bus", 1ms));
    REQUIRE(h.change(std::move(change)));
    CHECK(h.is_read(h.buses[0], 5));
    CHECK(h.status(device).interval == 1ms);
}

TEST_CASE("a change that tg-sample does not apply in time leaves devices with threads unchanged",
          "[device][own][change]") {
    ThreadsHarness h;
    std::atomic<bool> is_busy{false};
    h.scripts[0].on_read = [&](SampleBatch&) {
        is_busy = true;
        (void)eventually([&] { return !h.held; }, long_time);
    };
    h.held = true;
    h.sampler.add(device_options("shared", 1h), std::make_unique<ScriptedDriver>(h.scripts[0]));
    h.add(h.buses[0]);
    h.threads.start();
    REQUIRE(eventually([&] { return is_busy.load(); }));
    DeviceChange change;
    change.set.push_back({device_options("bus", 1ms), std::make_unique<WaitingDriver>(h.buses[1])});
    CHECK_FALSE(h.threads.run_change(h.sampler.prepare(std::move(change)), 1ms));
    h.held = false;
    const int reads = h.buses[0].reads;
    CHECK(h.is_read(h.buses[0], reads + 3));
    CHECK(h.buses[1].reads == 0);
    CHECK(h.buses[1].drivers == 0);
}

TEST_CASE("a removed device leaves no descriptor", "[device][own][change]") {
    ThreadsHarness h;
    const DeviceId device = h.add(h.buses[0]);
    h.threads.start();
    REQUIRE(h.is_read(h.buses[0], 1));
    REQUIRE(h.set(h.buses[1]));  // another driver with its own signal
    REQUIRE(h.is_read(h.buses[1], 1));
    REQUIRE(h.remove());
    h.threads.stop();
    CHECK(h.buses[0].drivers == 0);
    CHECK(h.buses[1].drivers == 0);
    CHECK(h.sampler.cancel_of(device) == nullptr);
}

TEST_CASE("threads that were stopped can be started again, and continue the numbers", "[device][own]") {
    ThreadsHarness h;
    h.add(h.buses[0]);
    h.threads.start();
    REQUIRE(h.is_read(h.buses[0], 3));
    h.threads.stop();
    const int reads = h.buses[0].reads;
    h.threads.start();
    REQUIRE(h.is_read(h.buses[0], reads + 3));
    h.threads.stop();
    CHECK(h.numbers_are_whole());
}

TEST_CASE("a device that can wait for queue capacity loses nothing", "[device][own]") {
    ThreadsHarness h;
    h.queue.resize(3);  // less than a batch
    h.buses[0].streams = true;
    h.buses[0].waits_for_room = true;
    h.buses[0].samples = 7;
    const DeviceId device = h.add(h.buses[0]);
    h.threads.start();
    std::array<TelemetrySample, 4> some{};
    std::uint64_t last = 0;
    bool in_order = true;
    CHECK(eventually([&] {
        const std::size_t count = h.queue.pop(some);
        for (std::size_t i = 0; i < count; ++i) {
            in_order = in_order && some[i].seq == ++last;
        }
        return last >= 100;
    }));
    CHECK(in_order);
    CHECK(h.threads.run_command(device, DeviceCommand::stop, long_time));
}

TEST_CASE("the ledger balances while many devices with their own threads fill one queue", "[device][own][ledger]") {
    ThreadsHarness h;
    for (std::size_t i = 0; i < h.buses.size(); ++i) {
        h.buses[i].streams = true;
        h.add(h.buses[i], "bus-" + std::to_string(i));
    }
    const DeviceId shared =
        h.sampler.add(device_options("shared", 1ms), std::make_unique<ScriptedDriver>(h.scripts[0]));
    h.threads.start();
    bool balanced = true;
    CHECK(eventually([&] {
        for (const LedgerCounts& counts : h.ledger.cut()) {
            balanced = balanced && counts.balanced() && counts.queued <= counts.sampled;
        }
        return h.status(shared).reads >= 100 && h.buses[0].reads >= 20 && h.buses[2].reads >= 20;
    }));
    h.threads.stop();
    CHECK(balanced);
    std::uint64_t queued = 0;
    for (const LedgerCounts& counts : h.ledger.cut()) {
        queued += counts.queued;
    }
    CHECK(queued == h.queue.size());
}
