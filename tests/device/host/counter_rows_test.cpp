#include "host/counter_rows.hpp"
#include "support/catch.hpp"

using telegate::host::counter_rate;
using telegate::host::RateLimits;

namespace {

constexpr RateLimits limits{1e9, 1e6};
constexpr std::uint64_t counter_range = std::uint64_t{1} << 32;

}  // namespace

TEST_CASE("a rate is the step divided by the time", "[device][host]") {
    CHECK(counter_rate(100, 350, 2.0, limits) == 125.0);
    CHECK(counter_rate(7, 7, 1.0, limits) == 0.0);
}

TEST_CASE("a rate needs a positive time", "[device][host]") {
    CHECK_FALSE(counter_rate(1, 2, 0.0, limits));
    CHECK_FALSE(counter_rate(1, 2, -1.0, limits));
}

TEST_CASE("the rate of a counter that overflows at 32 bits is the step modulo the range", "[device][host]") {
    CHECK(counter_rate(counter_range - 1, 0, 1.0, limits) == 1.0);
    CHECK(counter_rate(counter_range - 100, 900, 2.0, limits) == 500.0);
}

TEST_CASE("a step back that is not a 32-bit overflow has no rate", "[device][host]") {
    CHECK_FALSE(counter_rate(counter_range, 0, 1.0, limits));              // more than 32 bits
    CHECK_FALSE(counter_rate(counter_range - 2'000'000, 0, 1.0, limits));  // faster than a 32-bit counter can count
    CHECK_FALSE(counter_rate(counter_range / 2, 0, 1e9, limits));          // half of the range: probably a reset
    // 64-bit counters do not overflow in practice
    CHECK_FALSE(counter_rate(~std::uint64_t{0}, 0, 1.0, limits));
    CHECK(counter_rate(counter_range - 2'000'000, 0, 2.0, limits) == 1'000'000.0);
}

TEST_CASE("an impossible rate has no value", "[device][host]") {
    CHECK_FALSE(counter_rate(0, 2'000'000'000, 1.0, limits));
    CHECK(counter_rate(0, 2'000'000'000, 2.0, limits) == 1e9);
}
