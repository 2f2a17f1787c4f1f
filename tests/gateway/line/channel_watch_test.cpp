#include "line/channel_watch.hpp"

#include "gateway/line/pump_line.hpp"
#include "status/health_checks.hpp"
#include "support/catch.hpp"
#include "support/manual_clock.hpp"

#include <array>
#include <string>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

struct WatchHarness : PumpLine {
    WatchHarness() : PumpLine({}) {}

    void publish(ChannelId channel, Quality quality) {
        TelemetrySample one = sample(channel);
        one.quality = quality;
        one.time_mono_ns = clock.mono_now().time_since_epoch().count();
        const std::array samples{one};
        ledger.captured(DeviceId{0}, samples);
        queue.push(queue.first(), samples, [](const TelemetrySample&, QueueLoss) {});
        pump.drain_all();
    }
    std::uint64_t bad_after(std::chrono::seconds time) {
        clock.advance(time);
        watch.check_all();
        return watch.bad().count;
    }

    ManualClock clock;
    bool measures = true;
    ChannelWatch watch{{bench.reactor, channels, pump, clock, [this](DeviceId) {
                            return measures;
                        }}};
};

}  // namespace

TEST_CASE("a channel that stays bad is found after a while, until it is good again", "[gateway][channels]") {
    WatchHarness h;
    h.publish(h.a, Quality::bad);
    h.publish(h.b, Quality::good);
    CHECK(h.bad_after(0s) == 0);
    CHECK(h.bad_after(30s) == 0);
    CHECK(h.bad_after(30s) == 1);
    CHECK(h.watch.bad().of(DeviceId{0}) == 1);
    CHECK(h.watch.bad().named == std::vector<std::string>{"d/a (for 60 s)"});
    h.publish(h.a, Quality::good);
    CHECK(h.bad_after(10s) == 0);
    h.publish(h.a, Quality::bad);
    CHECK(h.bad_after(10s) == 0);
}

TEST_CASE("a good sample between two checks ends the time for which a channel is bad", "[gateway][channels]") {
    WatchHarness h;
    h.publish(h.a, Quality::bad);
    CHECK(h.bad_after(0s) == 0);
    h.clock.advance(55s);
    h.publish(h.a, Quality::good);
    h.publish(h.a, Quality::bad);
    CHECK(h.bad_after(5s) == 0);
    CHECK(h.bad_after(54s) == 0);
    CHECK(h.bad_after(1s) == 1);
    CHECK(h.watch.bad().named == std::vector<std::string>{"d/a (for 60 s)"});
}

TEST_CASE("bad channels of a failing device are not reported", "[gateway][channels]") {
    WatchHarness h;
    h.publish(h.a, Quality::bad);
    (void)h.bad_after(0s);
    h.measures = false;
    CHECK(h.bad_after(60s) == 0);
    h.measures = true;
    CHECK(h.bad_after(10s) == 0);
    CHECK(h.bad_after(60s) == 1);
}

TEST_CASE("bad channels are a warning that names the first of them", "[gateway][channels][health]") {
    CHECK(check_channels({}).good);
    const HealthCheck check = check_channels({{}, 7, {"plc/flow (for 60 s)", "plc/temp (for 90 s)"}});
    CHECK_FALSE(check.good);
    CHECK(check.is_warning);
    CHECK(check.detail == "channels without a good value: plc/flow (for 60 s), plc/temp (for 90 s) and 5 more");
}
