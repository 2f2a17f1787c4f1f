#include "pipeline_bench.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

ChannelProcessing with_interval(Duration interval) {
    ChannelProcessing how;
    how.send_interval_min = interval;
    return how;
}

}  // namespace

TEST_CASE("a value is sent if it differs by more than the deadband from the last sent value", "[processing]") {
    PipelineBench bench(with_deadband(1.0));
    CHECK(bench.sent_of({5.0, 5.5, 6.0, 6.25, 5.5, 5.25, 5.0}) == std::vector{5.0, 6.25, 5.0});
}

TEST_CASE("a slow drift is sent once it has left the deadband", "[processing]") {
    PipelineBench bench(with_deadband(1.0));
    CHECK(bench.sent_of({0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0}) == std::vector{0.0, 1.5, 3.0});
}

TEST_CASE("a deadband in percent is relative to the last sent value", "[processing]") {
    PipelineBench bench(with_deadband(0.0, 10.0));
    CHECK(bench.sent_of({100.0, 109.0, 111.0, 101.0, 99.0}) == std::vector{100.0, 111.0, 99.0});
}

TEST_CASE("a deadband in percent is as wide for a negative value", "[processing]") {
    PipelineBench bench(with_deadband(0.0, 10.0));
    CHECK(bench.sent_of({-100.0, -91.0, -89.0}) == std::vector{-100.0, -89.0});
}

TEST_CASE("the larger of two deadbands applies", "[processing]") {
    PipelineBench bench(with_deadband(1.0, 10.0));
    CHECK(bench.sent_of({0.0, 0.9, 1.5, 100.0, 105.0, 111.0}) == std::vector{0.0, 1.5, 100.0, 111.0});
}

TEST_CASE("an unchanged value is sent after the maximum send interval", "[processing]") {
    PipelineBench bench(with_deadband(1.0, 0.0, 100ms));
    CHECK(is_sent(bench.process(0, 5.0)));
    CHECK(is_held_back(bench.process(50, 5.0), FilterReason::deadband));
    CHECK(is_sent(bench.process(100, 5.0)));
    CHECK(is_held_back(bench.process(190, 5.0), FilterReason::deadband));
    CHECK(is_sent(bench.process(201, 5.0)));
}

TEST_CASE("a tick that is slightly early still ends the maximum send interval", "[processing]") {
    PipelineBench bench(with_deadband(1.0, 0.0, 160ms));
    CHECK(is_sent(bench.process(1, 5.0)));
    CHECK(is_held_back(bench.process(150, 5.0), FilterReason::deadband));
    CHECK(is_sent(bench.process(151, 5.0)));
}

TEST_CASE("a deadband passes the first of consecutive bad readings", "[processing]") {
    PipelineBench bench(with_deadband(1.0, 0.0, 100ms));
    CHECK(is_sent(bench.process(0, 5.0)));
    CHECK(is_sent(bench.absent(1)));
    CHECK(is_held_back(bench.absent(2), FilterReason::deadband));
    CHECK(is_sent(bench.absent(101)));
}

TEST_CASE("the first good reading after a bad one is sent even if its value is unchanged", "[processing]") {
    auto how = with_deadband(1.0);
    how.send_interval_min = 1'000ms;
    PipelineBench bench(how);
    CHECK(is_sent(bench.process(0, 5.0)));
    CHECK(is_sent(bench.absent(1)));
    CHECK(is_sent(bench.process(2, 5.0)));
    CHECK(is_held_back(bench.process(3, 5.0), FilterReason::deadband));
}

TEST_CASE("every change of quality is sent", "[processing]") {
    PipelineBench bench(with_deadband(100.0));
    CHECK(is_sent(bench.process(0, 5.0)));
    CHECK(is_sent(bench.process(1, 5.0, Quality::uncertain)));
    CHECK(is_held_back(bench.process(2, 5.0, Quality::uncertain), FilterReason::deadband));
    CHECK(is_sent(bench.absent(3, Quality::stale)));
    CHECK(is_sent(bench.absent(4, Quality::bad)));
    CHECK(is_sent(bench.process(5, 5.0)));
}

TEST_CASE("a rate limit passes one sample in each interval", "[processing]") {
    PipelineBench bench(with_interval(100ms));
    std::vector<std::int64_t> sent;
    for (std::int64_t ms = 0; ms < 350; ms += 10) {
        if (is_sent(bench.process(ms, static_cast<double>(ms)))) {
            sent.push_back(ms);
        }
    }
    CHECK(sent == std::vector<std::int64_t>{0, 100, 200, 300});
}

TEST_CASE("a rate limit of one interval of the device suppresses nothing even if ticks jitter", "[processing]") {
    PipelineBench bench(with_interval(100ms));
    for (const std::int64_t ms : {3, 100, 206, 300, 401, 500, 605}) {
        CAPTURE(ms);
        CHECK(is_sent(bench.process(ms, 1.0)));
    }
}

TEST_CASE("jitter does not make a rate limit pass more samples in the long run", "[processing]") {
    PipelineBench bench(with_interval(100ms));
    int sent = 0;
    for (std::int64_t ms = 0; ms < 94'000; ms += 94) {  // each comes 6 ms early
        sent += is_sent(bench.process(ms, 1.0)) ? 1 : 0;
    }
    CHECK(sent <= 941);
}

TEST_CASE("after a pause a rate limit restarts", "[processing]") {
    PipelineBench bench(with_interval(100ms));
    CHECK(is_sent(bench.process(0, 1.0)));
    CHECK(is_sent(bench.process(1'050, 1.0)));
    CHECK(is_held_back(bench.process(1'100, 1.0), FilterReason::rate_limit));
    CHECK(is_sent(bench.process(1'150, 1.0)));
}

TEST_CASE("if time runs back, waiting ends", "[processing]") {
    PipelineBench limited(with_interval(100ms));
    CHECK(is_sent(limited.process(1'000'000, 1.0)));
    CHECK(is_sent(limited.process(10, 1.0)));
    CHECK(is_held_back(limited.process(60, 1.0), FilterReason::rate_limit));
    PipelineBench silent(with_deadband(1.0, 0.0, 100ms));
    CHECK(is_sent(silent.process(1'000'000, 1.0)));
    CHECK(is_sent(silent.process(10, 1.0)));
    CHECK(is_held_back(silent.process(60, 1.0), FilterReason::deadband));
}

TEST_CASE("the deadband ignores a value that the rate limit suppressed", "[processing]") {
    auto how = with_deadband(1.0);
    how.send_interval_min = 100ms;
    PipelineBench bench(how);
    CHECK(is_sent(bench.process(0, 0.0)));
    CHECK(is_held_back(bench.process(10, 5.0), FilterReason::rate_limit));
    CHECK(is_sent(bench.process(100, 5.0)));
}

TEST_CASE("texts and booleans pass a deadband but not a rate limit", "[processing]") {
    auto how = with_deadband(10.0);
    how.send_interval_min = 100ms;
    PipelineBench texts(how);
    CHECK(is_sent(texts.text(0)));
    CHECK(is_held_back(texts.text(50), FilterReason::rate_limit));
    CHECK(is_sent(texts.absent(60)));
    CHECK(is_held_back(texts.absent(70), FilterReason::rate_limit));
    CHECK(is_sent(texts.absent(170)));
    CHECK(is_sent(texts.text(171)));
    PipelineBench logical(how);
    CHECK(is_sent(logical.logical(0, true)));
    CHECK(is_held_back(logical.logical(50, false), FilterReason::rate_limit));
    CHECK(is_sent(logical.logical(100, true)));
}

TEST_CASE("deadband and rate limit continue from the last sent value before a change of settings", "[processing]") {
    PipelineBench before(with_deadband(5.0));
    CHECK(is_sent(before.process(0, 10.0)));
    auto how = with_deadband(2.0);
    PipelineBench bench(how);
    bench.pipeline().continue_from(before.pipeline());
    CHECK(is_held_back(bench.process(10, 11.0), FilterReason::deadband));
    CHECK(is_sent(bench.process(20, 13.0)));
}
