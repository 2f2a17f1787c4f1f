#include "pipeline_bench.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::test;

namespace {

ChannelProcessing deriving(Derive derive, double scale = 1.0) {
    ChannelProcessing how;
    how.derive = derive;
    how.scale = scale;
    return how;
}

bool is_absent(const processing::Outcome& outcome) {
    return is_sent(outcome) && !outcome.reading.has_value && outcome.reading.quality == Quality::bad;
}

constexpr double range_32_bits = 4'294'967'296.0;

}  // namespace

TEST_CASE("a rate is the change per second, in either direction", "[processing]") {
    PipelineBench bench(deriving(Derive::rate));
    CHECK(is_absent(bench.process(0, 10.0)));
    CHECK(bench.process(500, 12.0).reading.value == Approx(4.0));
    CHECK(bench.process(1'500, 9.0).reading.value == Approx(-3.0));
    CHECK(bench.process(2'500, 9.0).reading.value == 0.0);
}

TEST_CASE("a rate is calculated from the scaled value", "[processing]") {
    auto how = deriving(Derive::rate, 10.0);
    how.offset = 1'000.0;
    PipelineBench bench(how);
    bench.process(0, 1.0);
    CHECK(bench.process(1'000, 2.0).reading.value == Approx(10.0));
}

TEST_CASE("there is no rate if time has not advanced", "[processing]") {
    const Derive derive = GENERATE(Derive::rate, Derive::counter_rate);
    PipelineBench bench(deriving(derive));
    bench.process(1'000, 1.0);
    CHECK(is_absent(bench.process(1'000, 2.0)));
    CHECK(is_absent(bench.process(500, 3.0)));
    CHECK(bench.process(1'500, 4.0).reading.value == Approx(1.0));
}

TEST_CASE("after a reading without a value the rate is the mean over the gap", "[processing]") {
    PipelineBench bench(deriving(Derive::rate));
    bench.process(0, 0.0);
    CHECK(is_absent(bench.absent(1'000)));
    CHECK(bench.process(2'000, 10.0).reading.value == Approx(5.0));
}

TEST_CASE("a rate is uncertain if either value is", "[processing]") {
    PipelineBench bench(deriving(Derive::rate));
    bench.process(0, 0.0, Quality::uncertain);
    CHECK(bench.process(1'000, 1.0).reading.quality == Quality::uncertain);
    CHECK(bench.process(2'000, 2.0).reading.quality == Quality::good);
    CHECK(bench.process(3'000, 3.0, Quality::uncertain).reading.quality == Quality::uncertain);
}

TEST_CASE("a rate beyond the range of a double is absent", "[processing]") {
    PipelineBench bench(deriving(Derive::rate));
    bench.process(0, -1e308);
    CHECK(is_absent(bench.process(1'000, 1e308)));
}

TEST_CASE("a counter that overflows at 32 bits keeps its rate", "[processing]") {
    PipelineBench bench(deriving(Derive::counter_rate));
    bench.process(0, range_32_bits - 100.0);
    CHECK(bench.process(1'000, 50.0).reading.value == Approx(150.0));
}

TEST_CASE("a counter overflows before it is scaled", "[processing]") {
    auto how = deriving(Derive::counter_rate, 8.0);
    how.offset = 5.0;
    PipelineBench bench(how);
    bench.process(0, range_32_bits - 100.0);
    CHECK(bench.process(1'000, 50.0).reading.value == Approx(8 * 150.0));
}

TEST_CASE("a counter that restarts has no rate once", "[processing]") {
    const auto [before, after] = GENERATE(table<double, double>({
        {5'000'000.0, 0.0},           // the step is at least half of the range
        {range_32_bits, 10.0},        // more than 32 bits
        {range_32_bits - 1.0, -1.0},  // not a counter
        {2e12, 1e12},                 // 64-bit counter
    }));
    PipelineBench bench(deriving(Derive::counter_rate));
    bench.process(0, before);
    CHECK(is_absent(bench.process(1'000, after)));
    CHECK(bench.process(2'000, after + 7.0).reading.value == Approx(7.0));
}

TEST_CASE("a deadband before a rate does not suppress the value after the absent first rate", "[processing]") {
    auto how = deriving(Derive::counter_rate);
    how.deadband = 10.0;
    PipelineBench bench(how);
    CHECK(is_absent(bench.process(0, 100.0)));
    CHECK(bench.process(1'000, 100.0).reading.value == 0.0);
    CHECK(is_held_back(bench.process(2'000, 105.0), FilterReason::deadband));
    CHECK(bench.process(3'000, 120.0).reading.value == Approx(10.0));
}

TEST_CASE("a rate continues from the last value before a change of settings", "[processing]") {
    ChannelProcessing how;
    how.derive = Derive::rate;
    PipelineBench before(how);
    before.process(0, 10.0);
    how.alarm_high = 5.0;
    PipelineBench bench(how);
    bench.pipeline().continue_from(before.pipeline());
    const auto outcome = bench.process(1'000, 12.0);
    CHECK(outcome.reading.quality == Quality::good);
    CHECK(outcome.reading.value == Approx(2.0));
}
