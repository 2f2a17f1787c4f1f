#include "replay/replay_clock.hpp"

#include "device/nanoseconds.hpp"
#include "support/catch.hpp"
#include "support/manual_clock.hpp"

#include <cstdint>
#include <limits>

using namespace telegate;
using namespace telegate::replay;
using test::millisecond_ns;
using namespace std::chrono_literals;

namespace {

struct Played {
    explicit Played(double speed) : clock(speed) {}
    Duration after(std::int64_t logged_ns, std::uint64_t run = 1) { return clock.due(logged_ns, run, manual) - begin; }
    test::ManualClock manual;
    const MonoTime begin = manual.mono_now();
    ReplayClock clock;
};

}  // namespace

TEST_CASE("moments are due at their logged intervals, divided by the speed", "[device][replay]") {
    const auto [speed, expected] = GENERATE(table<double, std::int64_t>({{1, 300}, {10, 30}, {0.5, 600}, {1'000, 0}}));
    Played played(speed);
    CHECK(played.after(700 * millisecond_ns) == 0ms);
    const Duration due = played.after(1'000 * millisecond_ns);
    CHECK(due / 1ms == expected);
    CHECK(played.after(1'000 * millisecond_ns) == due);  // can be called repeatedly
}

TEST_CASE("a sample with an earlier time than its predecessor is due together with it", "[device][replay]") {
    Played played(1);
    CHECK(played.after(5'000 * millisecond_ns) == 0ms);
    CHECK(played.after(5'200 * millisecond_ns) == 200ms);
    CHECK(played.after(1'000 * millisecond_ns) == 200ms);
    CHECK(played.after(5'300 * millisecond_ns) == 300ms);
}

TEST_CASE("another run begins immediately", "[device][replay]") {
    Played played(1);
    CHECK(played.after(5'000 * millisecond_ns) == 0ms);
    played.manual.advance(100ms);
    CHECK(played.after(7 * millisecond_ns, 2) == 100ms);
    CHECK(played.after(17 * millisecond_ns, 2) == 110ms);
}

TEST_CASE("a log starts again after the interval between its last two moments", "[device][replay]") {
    Played played(2);
    CHECK(played.after(0) == 0ms);
    CHECK(played.after(100 * millisecond_ns) == 50ms);
    CHECK(played.after(300 * millisecond_ns) == 150ms);
    played.clock.begin_again();
    CHECK(played.after(0, 2) == 250ms);
    CHECK(played.after(100 * millisecond_ns, 2) == 300ms);
}

TEST_CASE("a log of one moment starts again every second", "[device][replay]") {
    Played played(1);
    CHECK(played.after(0) == 0ms);
    played.clock.begin_again();
    CHECK(played.after(0, 2) == 1s);
}

TEST_CASE("after a stop it continues from there, without a burst", "[device][replay]") {
    Played played(1);
    CHECK(played.after(0) == 0ms);
    played.manual.advance(60s);
    CHECK(played.after(100 * millisecond_ns) == 60s);
    CHECK(played.after(200 * millisecond_ns) == 60s + 100ms);
}

TEST_CASE("an extreme logged time does not overflow", "[device][replay]") {
    Played played(0.001);
    constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    CHECK(played.after(least) == 0ms);
    CHECK(played.after(most) > 24h * 365);
    played.clock.begin_again();
    CHECK(played.after(least, 2) > 24h * 365);
    CHECK(played.after(most, 2) > 24h * 365);
}
