#include "processing/channel_pipeline.hpp"

#include "pipeline_bench.hpp"
#include "support/catch.hpp"

#include <limits>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("every reason for suppressing samples has its own name", "[processing]") {
    CHECK(to_string(FilterReason::range) == "range");
    CHECK(to_string(FilterReason::deadband) == "deadband");
    CHECK(to_string(FilterReason::rate_limit) == "rate_limit");
    CHECK(to_string(FilterReason::window) == "window");
}

TEST_CASE("processing of defaults has no stages", "[processing]") {
    ChannelProcessing how;
    CHECK_FALSE(how.has_stages());
    how.unit = "V";
    how.send_interval_max = 1s;
    CHECK_FALSE(how.has_stages());
    PipelineBench bench(how);
    CHECK(bench.sent_of({1.0, 1.0, 2.0}) == std::vector{1.0, 1.0, 2.0});
}

TEST_CASE("a value is scaled, then the offset is added", "[processing]") {
    ChannelProcessing how;
    how.scale = 0.1;
    how.offset = -40.0;
    PipelineBench bench(how);
    CHECK(bench.process(0, 655.0).reading.value == Approx(25.5));
    CHECK(bench.pipeline().makes_reals());
}

TEST_CASE("a value outside its valid range is uncertain", "[processing]") {
    ChannelProcessing how;
    how.valid_min = -10.0;
    how.valid_max = 10.0;
    PipelineBench bench(how);
    const auto [value, quality] = GENERATE(table<double, Quality>({
        {-10.0, Quality::good},
        {10.0, Quality::good},
        {-10.1, Quality::uncertain},
        {1e300, Quality::uncertain},
    }));
    const auto outcome = bench.process(0, value);
    CHECK(is_sent(outcome));
    CHECK(outcome.reading.value == value);
    CHECK(outcome.reading.quality == quality);
    CHECK_FALSE(bench.pipeline().makes_reals());
}

TEST_CASE("a value outside its valid range is dropped if configured", "[processing]") {
    ChannelProcessing how;
    how.valid_max = 10.0;
    how.out_of_range = OutOfRange::drop;
    PipelineBench bench(how);
    CHECK(is_sent(bench.process(0, 10.0)));
    CHECK(is_held_back(bench.process(1, 10.5), FilterReason::range));
    CHECK(is_held_back(bench.process(2, 10.5, Quality::uncertain), FilterReason::range));
    CHECK(is_sent(bench.process(3, 9.0)));
}

TEST_CASE("a bad value stays bad, inside and outside its range", "[processing]") {
    ChannelProcessing how;
    how.valid_max = 10.0;
    PipelineBench bench(how);
    CHECK(bench.process(0, 11.0, Quality::bad).reading.quality == Quality::bad);
    CHECK(bench.process(1, 11.0, Quality::stale).reading.quality == Quality::stale);
}

TEST_CASE("a reading without a value is neither scaled nor out of range", "[processing]") {
    ChannelProcessing how;
    how.offset = 100.0;
    how.valid_max = 10.0;
    how.out_of_range = OutOfRange::drop;
    PipelineBench bench(how);
    const auto outcome = bench.absent(0);
    CHECK(is_sent(outcome));
    CHECK_FALSE(outcome.reading.has_value);
    CHECK(outcome.reading.quality == Quality::bad);
}

TEST_CASE("infinity and NaN become a reading without a value", "[processing]") {
    ChannelProcessing how;
    how.scale = 10.0;
    how.valid_max = 10.0;
    how.out_of_range = OutOfRange::drop;
    how.deadband = 1.0;
    how.alarm_high = 5.0;
    PipelineBench bench(how);
    const double value = GENERATE(std::nan(""), endless, -endless, 1e308);
    bench.process(0, 0.1);
    const auto outcome = bench.process(1, value);
    CHECK(is_sent(outcome));
    CHECK_FALSE(outcome.reading.has_value);
    CHECK(outcome.reading.quality == Quality::bad);
    CHECK(bench.alarms() == std::vector<std::string>{"normal", "unknown"});
    CHECK(is_sent(bench.process(2, 0.1)));
}

TEST_CASE("stages run in their order", "[processing]") {
    ChannelProcessing how;
    SECTION("the valid range applies to the scaled value") {
        how.scale = 10.0;
        how.valid_max = 10.0;
        PipelineBench bench(how);
        CHECK(bench.process(0, 2.0).reading.quality == Quality::uncertain);
    }
    SECTION("the deadband applies to the scaled value") {
        how.scale = 10.0;
        how.deadband = 5.0;
        PipelineBench bench(how);
        CHECK(bench.sent_of({1.0, 1.4, 1.6}) == std::vector{10.0, 16.0});
    }
    SECTION("the deadband ignores a dropped value") {
        how.valid_max = 10.0;
        how.out_of_range = OutOfRange::drop;
        how.deadband = 5.0;
        PipelineBench bench(how);
        CHECK(bench.sent_of({1.0, 100.0, 2.0, 100.0, 7.0}) == std::vector{1.0, 7.0});
    }
    SECTION("a value that leaves its range passes the deadband, because its quality changes") {
        how.valid_max = 10.0;
        how.deadband = 5.0;
        PipelineBench bench(how);
        CHECK(bench.sent_of({9.0, 11.0, 12.0, 9.5}) == std::vector{9.0, 11.0, 9.5});
    }
    SECTION("a value within the deadband does not use up the rate limit") {
        how.deadband = 5.0;
        how.send_interval_min = 10ms;
        PipelineBench bench(how);
        CHECK(is_sent(bench.process(0, 0.0)));
        CHECK(is_held_back(bench.process(10, 1.0), FilterReason::deadband));
        CHECK(is_sent(bench.process(11, 6.0)));
        CHECK(is_held_back(bench.process(12, 20.0), FilterReason::rate_limit));
    }
    SECTION("a rate is between two values that passed deadband and rate limit") {
        how.send_interval_min = 1s;
        how.derive = Derive::rate;
        PipelineBench bench(how);
        bench.process(0, 0.0);
        CHECK(bench.process(1, 1.0).reading.value == 1'000.0);  // follows a sample of other quality
        CHECK(is_held_back(bench.process(500, 77.0), FilterReason::rate_limit));
        CHECK(bench.process(1'001, 3.0).reading.value == Approx(2.0));
    }
    SECTION("a window contains rates") {
        how.derive = Derive::rate;
        how.window = 10s;
        PipelineBench bench(how);
        bench.process(0, 0.0);
        bench.process(1'000, 5.0);
        bench.process(2'000, 6.0);
        bench.advance(10'000);
        CHECK(bench.window().max == Approx(5.0));
        CHECK(bench.window().values == 2);
        CHECK(bench.window().quality == Quality::uncertain);  // the first value has no rate
    }
    SECTION("a window contains the values that passed the deadband") {
        how.deadband = 5.0;
        how.window = 10s;
        PipelineBench bench(how);
        for (const double value : {0.0, 1.0, 6.0, 7.0}) {
            bench.process(static_cast<std::int64_t>(value), value);
        }
        bench.advance(10'000);
        CHECK(bench.window().values == 2);
        CHECK(bench.window().last == 6.0);
    }
    SECTION("an alarm watches single values even with a window") {
        how.window = 10s;
        how.alarm_high = 10.0;
        PipelineBench bench(how);
        bench.process(0, 0.0);
        bench.process(1, 11.0);
        CHECK(bench.alarms() == std::vector<std::string>{"normal", "high"});
    }
    SECTION("an alarm ignores dropped values") {
        how.valid_max = 100.0;
        how.out_of_range = OutOfRange::drop;
        how.alarm_high = 10.0;
        PipelineBench bench(how);
        bench.process(0, 0.0);
        bench.process(1, 101.0);
        CHECK(bench.alarms() == std::vector<std::string>{"normal"});
    }
}
