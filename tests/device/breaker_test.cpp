#include "device/breaker.hpp"

#include "support/catch.hpp"

using namespace telegate;
using namespace std::chrono_literals;

namespace {

constexpr MonoTime breaker_start{1'000s};

/// Makes the breaker fail until it opens, and returns its wait.
Duration wait_after_failure(Breaker& breaker, MonoTime now) {
    breaker.record_failure(now);
    REQUIRE(breaker.state() == BreakerState::open);
    return breaker.retry_at() - now;
}

}  // namespace

TEST_CASE(
    "a breaker opens after the configured number of consecutive failures, and a success resets "
    "the count",
    "[device][breaker]") {
    Breaker breaker({.failures = 3});
    breaker.record_failure(breaker_start);
    breaker.record_failure(breaker_start);
    breaker.record_success();
    breaker.record_failure(breaker_start);
    breaker.record_failure(breaker_start);
    CHECK(breaker.state() == BreakerState::closed);
    breaker.record_failure(breaker_start);
    CHECK(breaker.state() == BreakerState::open);
}

TEST_CASE("an open breaker allows one reading after its wait", "[device][breaker]") {
    Breaker breaker({.failures = 1, .wait = 1s});
    breaker.record_failure(breaker_start);
    CHECK_FALSE(breaker.allows(breaker.retry_at() - 1ns));
    CHECK(breaker.state() == BreakerState::open);
    CHECK(breaker.allows(breaker.retry_at()));
    CHECK(breaker.state() == BreakerState::half_open);
    breaker.record_success();
    CHECK(breaker.state() == BreakerState::closed);
}

TEST_CASE("each wait is twice the previous one, up to the maximum, with a jitter of a quarter", "[device][breaker]") {
    const auto seed = GENERATE(1U, 2U, 77U);
    Breaker breaker({.failures = 1, .wait = 1s, .wait_max = 8s}, seed);
    for (const Duration nominal : {1s, 2s, 4s, 8s, 8s, 8s}) {
        const Duration wait = wait_after_failure(breaker, breaker_start);
        CHECK(wait >= 3 * nominal / 4);
        CHECK(wait <= 5 * nominal / 4);
        REQUIRE(breaker.allows(breaker_start + wait));
    }
    breaker.record_success();
    CHECK(wait_after_failure(breaker, breaker_start) <= 1250ms);
}

TEST_CASE("breakers of different devices have different waits", "[device][breaker]") {
    Breaker first({.failures = 1}, 1);
    Breaker second({.failures = 1}, 2);
    CHECK(wait_after_failure(first, breaker_start) != wait_after_failure(second, breaker_start));
}

TEST_CASE("a breaker with 0 failures never opens", "[device][breaker]") {
    Breaker breaker({.failures = 0});
    for (int i = 0; i < 1'000; ++i) {
        breaker.record_failure(breaker_start);
    }
    CHECK(breaker.allows(breaker_start));
    CHECK(breaker.state() == BreakerState::closed);
}
