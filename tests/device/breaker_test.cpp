#include "device/breaker.hpp"

#include "support/catch.hpp"

using namespace telegate;
using namespace std::chrono_literals;

namespace {

constexpr MonoTime breaker_start{1'000s};

/// Lets the breaker fail until it opens, and returns how long it then waits.
Duration wait_after_failure(Breaker& breaker, MonoTime now) {
    breaker.note_failure(now);
    REQUIRE(breaker.state() == BreakerState::open);
    return breaker.retry_at() - now;
}

}  // namespace

TEST_CASE("a breaker opens after so many failures in a row, and a success in between begins anew",
          "[device][breaker]") {
    Breaker breaker({.failures = 3});
    breaker.note_failure(breaker_start);
    breaker.note_failure(breaker_start);
    breaker.note_success();
    breaker.note_failure(breaker_start);
    breaker.note_failure(breaker_start);
    CHECK(breaker.state() == BreakerState::closed);
    breaker.note_failure(breaker_start);
    CHECK(breaker.state() == BreakerState::open);
}

TEST_CASE("an open breaker lets one reading through when its time has come", "[device][breaker]") {
    Breaker breaker({.failures = 1, .wait = 1s});
    breaker.note_failure(breaker_start);
    CHECK_FALSE(breaker.allows(breaker.retry_at() - 1ns));
    CHECK(breaker.state() == BreakerState::open);
    CHECK(breaker.allows(breaker.retry_at()));
    CHECK(breaker.state() == BreakerState::half_open);
    breaker.note_success();
    CHECK(breaker.state() == BreakerState::closed);
}

TEST_CASE("each wait is twice the last one, up to the most, and a quarter more or less", "[device][breaker]") {
    const auto seed = GENERATE(1U, 2U, 77U);
    Breaker breaker({.failures = 1, .wait = 1s, .wait_max = 8s}, seed);
    for (const Duration nominal : {1s, 2s, 4s, 8s, 8s, 8s}) {
        const Duration wait = wait_after_failure(breaker, breaker_start);
        CHECK(wait >= 3 * nominal / 4);
        CHECK(wait <= 5 * nominal / 4);
        REQUIRE(breaker.allows(breaker_start + wait));
    }
    breaker.note_success();
    CHECK(wait_after_failure(breaker, breaker_start) <= 1250ms);
}

TEST_CASE("breakers of different devices do not wait equally long", "[device][breaker]") {
    Breaker first({.failures = 1}, 1);
    Breaker second({.failures = 1}, 2);
    CHECK(wait_after_failure(first, breaker_start) != wait_after_failure(second, breaker_start));
}

TEST_CASE("a breaker of no failures never opens", "[device][breaker]") {
    Breaker breaker({.failures = 0});
    for (int i = 0; i < 1'000; ++i) {
        breaker.note_failure(breaker_start);
    }
    CHECK(breaker.allows(breaker_start));
    CHECK(breaker.state() == BreakerState::closed);
}
