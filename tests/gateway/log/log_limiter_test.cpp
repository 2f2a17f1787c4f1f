#include "log/log_limiter.hpp"

#include "support/catch.hpp"
#include "support/manual_clock.hpp"

using namespace telegate;
using telegate::test::ManualClock;

TEST_CASE("a cause is logged once a minute, the next time with the number of suppressed lines", "[gateway][log]") {
    ManualClock clock;
    LogLimiter limiter(clock, 1);
    CHECK(limiter.admit("bad peer") == 0U);
    CHECK(limiter.admit("bad peer") == std::nullopt);
    CHECK(limiter.admit("bad peer") == std::nullopt);
    clock.advance(LogLimiter::quiet_time);
    CHECK(limiter.admit("bad peer") == 2U);
    CHECK(limiter.admit("bad peer") == std::nullopt);
}

TEST_CASE("one cause does not suppress another", "[gateway][log]") {
    ManualClock clock;
    LogLimiter limiter(clock, 1);
    CHECK(limiter.admit("one") == 0U);
    CHECK(limiter.admit("another") == 0U);
}

TEST_CASE("causes beyond the maximum share one entry", "[gateway][log]") {
    ManualClock clock;
    LogLimiter limiter(clock, 1);
    std::size_t admitted = 0;
    for (int i = 0; i < 1'000; ++i) {
        admitted += limiter.admit("cause " + std::to_string(i)) ? std::size_t{1} : std::size_t{0};
    }
    CHECK(admitted == LogLimiter::causes_max);
}

TEST_CASE("new causes replace those of an earlier minute, whose suppressed lines are reported", "[gateway][log]") {
    ManualClock clock;
    LogLimiter limiter(clock, 1);
    for (int i = 0; i < 100; ++i) {
        (void)limiter.admit("old " + std::to_string(i));
    }
    CHECK(limiter.admit("old 0") == std::nullopt);
    clock.advance(LogLimiter::quiet_time);
    CHECK(limiter.admit("new 1") == 0U);
    CHECK(limiter.admit("new 2") == 0U);
    CHECK(limiter.admit("new 1") == std::nullopt);
    for (int i = 3; i < 70; ++i) {
        (void)limiter.admit("new " + std::to_string(i));
    }
    CHECK(limiter.admit("new 1") == std::nullopt);
}

TEST_CASE("a limiter can admit several lines a minute", "[gateway][log]") {
    ManualClock clock;
    LogLimiter limiter(clock, 3);
    for (int i = 0; i < 3; ++i) {
        CHECK(limiter.admit("peer") == 0U);
        clock.advance(std::chrono::seconds(10));
    }
    CHECK(limiter.admit("peer") == std::nullopt);
    clock.advance(std::chrono::seconds(30));
    CHECK(limiter.admit("peer") == 1U);
}
