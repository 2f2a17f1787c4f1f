#include "pipeline_bench.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

using Told = std::vector<std::string>;

ChannelProcessing with_alarm(double hysteresis = 0.0, Duration delay = 0ms, Duration clear_delay = 0ms) {
    ChannelProcessing how;
    how.alarm_high = 80.0;
    how.alarm_low = 20.0;
    how.alarm_hysteresis = hysteresis;
    how.alarm_delay = delay;
    how.alarm_clear_delay = clear_delay;
    return how;
}

}  // namespace

TEST_CASE("an alarm reports its state at first and whenever it changes", "[processing]") {
    PipelineBench bench(with_alarm());
    bench.sent_of({50.0, 60.0, 80.0, 80.5, 90.0, 80.0, 20.0, 19.0, 81.0});
    CHECK(bench.alarms() == Told{"normal", "high", "normal", "low", "high"});
}

TEST_CASE("an alarm is unknown until its values have been in one state for the delay", "[processing]") {
    SECTION("beyond a limit") {
        PipelineBench bench(with_alarm(0.0, 100ms));
        bench.process(0, 90.0);
        CHECK(bench.pipeline().alarm().quality() == Quality::uncertain);
        bench.process(100, 90.0);
        CHECK(bench.alarms() == Told{"unknown", "high"});
        CHECK(bench.pipeline().alarm().limit() == 80.0);
        CHECK(bench.pipeline().alarm().value() == 90.0);
    }
    SECTION("within the limits") {
        PipelineBench bench(with_alarm(0.0, 0ms, 100ms));
        bench.process(0, 50.0);
        bench.process(100, 50.0);
        CHECK(bench.alarms() == Told{"unknown", "normal"});
        CHECK(bench.pipeline().alarm().quality() == Quality::good);
    }
    SECTION("within the hysteresis, where either state is possible") {
        PipelineBench bench(with_alarm(5.0));
        bench.process(0, 76.0);
        bench.process(1, 76.0);
        CHECK(bench.alarms() == Told{"unknown"});
        bench.process(2, 75.0);
        CHECK(bench.alarms() == Told{"unknown", "normal"});
    }
}

TEST_CASE("an alarm begins in the state before a restart", "[processing]") {
    auto how = with_alarm(5.0, 100ms, 100ms);
    how.alarm_before = AlarmState::high;
    PipelineBench bench(how);
    bench.process(0, 79.0);
    CHECK(bench.alarms() == Told{"high"});
    CHECK(bench.pipeline().alarm().quality() == Quality::good);
    bench.process(10, 70.0);
    bench.process(110, 70.0);
    CHECK(bench.alarms() == Told{"high", "normal"});
}

TEST_CASE("normal is uncertain while values are beyond a limit", "[processing]") {
    PipelineBench bench(with_alarm(0.0, 100ms));
    bench.process(0, 50.0);
    bench.absent(10);
    bench.process(20, 90.0);
    CHECK(bench.alarms() == Told{"normal", "unknown", "normal"});
    CHECK(bench.pipeline().alarm().quality() == Quality::uncertain);
    bench.process(30, 50.0);
    CHECK(bench.alarms() == Told{"normal", "unknown", "normal", "normal"});
    CHECK(bench.pipeline().alarm().quality() == Quality::good);
}

TEST_CASE("an alarm continues with other limits", "[processing]") {
    PipelineBench before(with_alarm(0.0, 100ms, 100ms));
    before.process(0, 90.0);
    before.process(100, 90.0);
    auto how = with_alarm(0.0, 0ms, 100ms);
    how.alarm_high = 95.0;
    PipelineBench bench(how);
    bench.pipeline().continue_from(before.pipeline());
    bench.process(110, 90.0);
    CHECK(bench.alarms().empty());
    CHECK(bench.pipeline().alarm().state() == AlarmState::high);
    bench.process(210, 90.0);
    CHECK(bench.alarms() == Told{"normal"});
}

TEST_CASE("a crossing that began before a change of settings ends its delay after it", "[processing]") {
    PipelineBench before(with_alarm(0.0, 100ms));
    before.process(0, 50.0);
    before.process(10, 90.0);
    PipelineBench bench(with_alarm(0.0, 100ms));
    bench.pipeline().continue_from(before.pipeline());
    CHECK(bench.pipeline().due_ns() == PipelineBench::ns(110));
    bench.process(60, 90.0);
    CHECK(bench.advance(110).alarm_tells);
    CHECK(bench.alarms() == Told{"high"});
}

TEST_CASE("a crossing of old limits is canceled if the value does not cross the new ones", "[processing]") {
    PipelineBench before(with_alarm(0.0, 0ms, 10s));
    before.process(0, 90.0);
    before.process(100, 70.0);  // returning to normal
    auto how = with_alarm();
    how.alarm_high = 60.0;
    processing::ChannelPipeline after(how);
    after.continue_from(before.pipeline());
    CHECK_FALSE(after.advance(200'000'000).alarm_tells);
    CHECK(after.alarm().state() == AlarmState::high);
}

TEST_CASE("a crossing by values of another scale is canceled", "[processing]") {
    PipelineBench before(with_alarm(0.0, 10s));
    before.process(0, 50.0);
    before.process(100, 90.0);  // becoming high
    auto how = with_alarm();
    how.scale = 0.5;
    processing::ChannelPipeline after(how);
    after.continue_from(before.pipeline());
    CHECK_FALSE(after.advance(200'000'000).alarm_tells);
    CHECK(after.alarm().state() != AlarmState::high);
}

TEST_CASE("an alarm whose limit was removed reports no limit", "[processing]") {
    PipelineBench before(with_alarm());
    before.process(0, 90.0);
    auto how = with_alarm(0.0, 0ms, 100ms);
    how.alarm_high.reset();
    processing::ChannelPipeline after(how);
    after.continue_from(before.pipeline());
    CHECK(after.alarm().state() == AlarmState::high);
    CHECK(after.alarm().limit() == std::nullopt);
}

TEST_CASE("an alarm with one limit ignores the other direction", "[processing]") {
    auto how = with_alarm();
    how.alarm_low.reset();
    PipelineBench bench(how);
    bench.sent_of({50.0, -1e300, 81.0});
    CHECK(bench.alarms() == Told{"normal", "high"});
}

TEST_CASE("an alarm ends when the value is back within its limit by the hysteresis", "[processing]") {
    PipelineBench bench(with_alarm(5.0));
    bench.sent_of({81.0, 79.0, 76.0, 80.0, 75.0, 79.0, 19.0, 24.0, 25.0});
    CHECK(bench.alarms() == Told{"high", "normal", "low", "normal"});
}

TEST_CASE("a crossing takes effect when it has lasted for the delay without interruption", "[processing]") {
    PipelineBench bench(with_alarm(0.0, 100ms));
    bench.process(0, 50.0);
    bench.process(10, 90.0);
    bench.process(60, 70.0);
    bench.process(70, 90.0);
    bench.process(120, 95.0);
    CHECK(bench.alarms() == Told{"normal"});
    bench.process(170, 90.0);
    CHECK(bench.alarms() == Told{"normal", "high"});
}

TEST_CASE("the end of an alarm has its own delay", "[processing]") {
    PipelineBench bench(with_alarm(0.0, 0ms, 100ms));
    bench.process(0, 90.0);
    bench.process(10, 50.0);
    bench.process(50, 81.0);
    bench.process(60, 50.0);
    bench.process(150, 50.0);
    CHECK(bench.alarms() == Told{"high"});
    bench.process(160, 50.0);
    CHECK(bench.alarms() == Told{"high", "normal"});
}

TEST_CASE("a delay ends even if no more readings arrive", "[processing]") {
    PipelineBench bench(with_alarm(0.0, 100ms));
    bench.process(0, 50.0);
    CHECK(bench.pipeline().due_ns() == std::numeric_limits<std::int64_t>::max());
    bench.process(10, 90.0);
    CHECK(bench.pipeline().due_ns() == PipelineBench::ns(110));
    CHECK_FALSE(bench.advance(109).alarm_tells);
    CHECK(bench.advance(110).alarm_tells);
    CHECK(bench.alarms() == Told{"normal", "high"});
    CHECK_FALSE(bench.advance(1'000).alarm_tells);
}

TEST_CASE("without values the state of an alarm is unknown, and then stays unchanged", "[processing]") {
    PipelineBench bench(with_alarm(0.0, 0ms, 100ms));
    bench.process(0, 90.0);
    bench.absent(10);
    bench.absent(20);
    bench.process(30, 50.0);
    CHECK(bench.alarms() == Told{"high", "unknown", "high"});
}

TEST_CASE("a reading without a value interrupts a crossing", "[processing]") {
    PipelineBench bench(with_alarm(0.0, 100ms));
    bench.process(0, 50.0);
    bench.process(10, 90.0);
    bench.absent(60);
    bench.process(70, 90.0);
    CHECK_FALSE(bench.advance(160).alarm_tells);
    CHECK(bench.advance(170).alarm_tells);
}

TEST_CASE("an alarm is uncertain if its value is", "[processing]") {
    auto how = with_alarm();
    how.valid_max = 100.0;
    PipelineBench bench(how);
    bench.process(0, 120.0);
    CHECK(bench.pipeline().alarm().state() == AlarmState::high);
    CHECK(bench.pipeline().alarm().quality() == Quality::uncertain);
    bench.process(1, 90.0);
    CHECK(bench.alarms() == Told{"high", "high"});
    CHECK(bench.pipeline().alarm().quality() == Quality::good);
}

TEST_CASE("an alarm repeats its state after the maximum send interval", "[processing]") {
    auto how = with_alarm();
    how.send_interval_max = 100ms;
    PipelineBench bench(how);
    bench.process(0, 50.0);
    bench.process(50, 50.0);
    bench.process(100, 50.0);
    bench.process(150, 90.0);
    bench.process(200, 90.0);
    bench.process(250, 90.0);
    CHECK(bench.alarms() == Told{"normal", "normal", "high", "high"});
}

TEST_CASE("neither deadband nor rate limit suppresses a value that begins or breaks a crossing", "[processing]") {
    auto how = with_alarm(2.0, 50ms);
    how.deadband = 10.0;
    how.send_interval_min = 1'000ms;
    PipelineBench bench(how);
    CHECK(is_sent(bench.process(0, 79.0)));
    CHECK(is_held_back(bench.process(10, 79.5), FilterReason::deadband));
    CHECK(is_sent(bench.process(20, 80.5)));
    CHECK(is_held_back(bench.process(30, 81.0), FilterReason::deadband));
    CHECK(is_sent(bench.process(40, 79.5)));
    CHECK(is_sent(bench.process(50, 80.5)));
    CHECK(is_held_back(bench.process(100, 80.5), FilterReason::deadband));
    CHECK(bench.alarms() == Told{"unknown", "high"});
}

TEST_CASE("if a rate is derived, the alarm watches the rate", "[processing]") {
    auto how = with_alarm();
    how.derive = Derive::rate;
    PipelineBench bench(how);
    bench.process(0, 1'000.0);
    bench.process(1'000, 1'050.0);
    bench.process(2'000, 1'150.0);
    CHECK(bench.alarms() == Told{"unknown", "normal", "high"});
}

TEST_CASE("for an alarm, booleans are 0 and 1", "[processing]") {
    ChannelProcessing how;
    how.alarm_high = 0.5;
    how.send_interval_min = 1'000ms;
    PipelineBench bench(how);
    bench.logical(0, false);
    CHECK(is_sent(bench.logical(10, true)));
    CHECK(is_held_back(bench.logical(20, true), FilterReason::rate_limit));
    CHECK(is_sent(bench.logical(30, false)));
    CHECK(bench.alarms() == Told{"normal", "high", "normal"});
}
