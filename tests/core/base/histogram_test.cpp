#include "core/histogram.hpp"

#include "support/catch.hpp"

using namespace telegate;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

TEST_CASE("an empty histogram returns zero", "[core][histogram]") {
    const DurationHistogram histogram;
    CHECK(histogram.count() == 0);
    CHECK(histogram.maximum() == 0ns);
    CHECK(histogram.quantile(0.5) == 0ns);
    CHECK(histogram.quantile(1.0) == 0ns);
}

TEST_CASE("every quantile of a single duration is this duration", "[core][histogram]") {
    const nanoseconds value = GENERATE(0ns, 1ns, 15ns, 16ns, 17ns, 31ns, 32ns, 1000ns, 65535ns, 65536ns, 1ms, 1s);
    CAPTURE(value.count());
    DurationHistogram histogram;
    histogram.record(value);
    CHECK(histogram.count() == 1);
    CHECK(histogram.maximum() == value);
    CHECK(histogram.quantile(0.0) == value);
    CHECK(histogram.quantile(0.5) == value);
    CHECK(histogram.quantile(1.0) == value);
}

TEST_CASE("a quantile is at most one sixteenth above the value and never below it", "[core][histogram]") {
    DurationHistogram histogram;
    histogram.record(std::chrono::hours(1));  // so that the maximum does not hide the bound of a bucket
    const std::int64_t power = std::int64_t{1} << GENERATE(range(0, 39));
    // Takes values only: a generator keeps a reference to a variable passed to it, even after the variable's lifetime.
    const nanoseconds value(GENERATE_COPY(power + 0, power + power / 3, power + power / 2, 2 * power - 1));
    CAPTURE(value.count());
    histogram.record(value);
    const nanoseconds bound = histogram.quantile(0.5);
    CHECK(bound >= value);
    CHECK((bound - value).count() * 16 <= value.count());
}

TEST_CASE("quantiles divide the durations by rank", "[core][histogram]") {
    DurationHistogram histogram;
    for (int index = 0; index < 98; ++index) {
        histogram.record(10ns);
    }
    histogram.record(1ms);
    histogram.record(1s);
    CHECK(histogram.quantile(0.50) == 10ns);
    CHECK(histogram.quantile(0.98) == 10ns);
    CHECK(histogram.quantile(0.99) >= 1ms);
    CHECK(histogram.quantile(0.99) < 2ms);
    CHECK(histogram.quantile(1.00) == 1s);
}

TEST_CASE("a negative duration counts as zero", "[core][histogram]") {
    DurationHistogram histogram;
    histogram.record(-5ms);
    CHECK(histogram.count() == 1);
    CHECK(histogram.maximum() == 0ns);
}

TEST_CASE("durations beyond the last bucket are counted and their maximum is exact", "[core][histogram]") {
    DurationHistogram histogram;
    histogram.record(std::chrono::hours(10));
    histogram.record(nanoseconds::max());
    CHECK(histogram.count() == 2);
    CHECK(histogram.maximum() == nanoseconds::max());
    CHECK(histogram.quantile(0.5) >= std::chrono::hours(10));
}
