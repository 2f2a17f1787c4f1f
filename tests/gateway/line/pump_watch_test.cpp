#include "line/pump_watch.hpp"

#include "support/catch.hpp"
#include "support/manual_clock.hpp"

#include <memory>
#include <thread>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

constexpr auto patient = 60s;  // longer than any test

/// A pump without publishers, on an event loop in its own thread.
struct Line {
    Line() : loop([this] { reactor.run(); }) {}
    ~Line() {
        reactor.stop();
        loop.join();
    }
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;

    void push() {
        TelemetrySample sample{};
        sample.channel = channel;
        sample.seq = ++seq;
        queue.push(queue.first(), sample, [](const TelemetrySample&, QueueLoss) { FAIL("the queue is too small"); });
    }
    /// Makes the pump drain the queue; it does not do so by itself, because it was not started.
    void drain() {
        reactor.post([this] { pump.drain_all(); });
        (void)watch.check(patient);
    }
    Duration stalled() { return watch.check(patient).stalled; }

    ManualClock clock;
    Reactor reactor;
    BoundedQueue<TelemetrySample> queue{100, OverflowPolicy::drop_newest};
    QueueWaker waker;
    ChannelTable channels;
    ChannelId channel = channels.add(DeviceId{0}, "d", "a", "").value();
    Ledger ledger{1, channels};
    std::uint64_t seq = 0;
    Pump pump{{reactor, queue, waker, channels, ledger}};
    PumpWatch watch{reactor, clock, pump};
    std::thread loop;
};

}  // namespace

TEST_CASE("a queue that is not drained is reported, with the time since it was first seen", "[gateway][health]") {
    Line line;
    line.push();
    CHECK(line.stalled() == 0s);
    line.clock.advance(3s);
    CHECK(line.stalled() == 3s);
    line.drain();
    CHECK(line.stalled() == 0s);
}

TEST_CASE("a pump that makes progress is not stalled, even if the queue is not empty", "[gateway][health]") {
    Line line;
    for (int i = 0; i < 3; ++i) {
        line.push();
        line.drain();
        line.push();
        line.clock.advance(3s);
        CHECK(line.stalled() == 0s);
    }
}

TEST_CASE("a pump that leaves samples in the queue is also reported in low-power mode", "[gateway][health]") {
    Line line;
    line.waker.begin_low_power(1s);
    line.push();
    CHECK(line.stalled() == 0s);
    line.clock.advance(3s);
    CHECK(line.stalled() == 3s);
}

TEST_CASE("a loop that does not run is silent since the first check", "[gateway][health]") {
    ManualClock clock;
    Reactor reactor;
    BoundedQueue<TelemetrySample> queue{100, OverflowPolicy::drop_newest};
    QueueWaker waker;
    ChannelTable channels;
    Ledger ledger{1, channels};
    const Pump pump({reactor, queue, waker, channels, ledger});
    PumpWatch watch(reactor, clock, pump);
    (void)watch.check(0ms);
    clock.advance(5s);
    CHECK(watch.check(0ms).silent == 5s);
    reactor.poll();
    clock.advance(1s);
    (void)watch.check(0ms);
    CHECK(watch.check(0ms).silent == 0s);
}

TEST_CASE("a loop that did not respond within the timeout is not waited for again", "[gateway][health]") {
    ManualClock clock;
    Reactor reactor;  // that does not run
    BoundedQueue<TelemetrySample> queue{100, OverflowPolicy::drop_newest};
    QueueWaker waker;
    ChannelTable channels;
    Ledger ledger{1, channels};
    Pump pump{{reactor, queue, waker, channels, ledger}};
    PumpWatch watch{reactor, clock, pump};
    CHECK(watch.check(0ms).silent == 0s);
    clock.advance(61s);
    const auto begin = std::chrono::steady_clock::now();
    CHECK(watch.check(patient).silent == 61s);
    CHECK(std::chrono::steady_clock::now() - begin < patient);
}
