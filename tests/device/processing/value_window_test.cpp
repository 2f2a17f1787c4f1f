#include "pipeline_bench.hpp"
#include "support/catch.hpp"

#include <utility>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

ChannelProcessing with_window(Duration length = 100ms) {
    ChannelProcessing how;
    how.window = length;
    how.aggregates = {Aggregate::min, Aggregate::max, Aggregate::mean, Aggregate::last, Aggregate::count};
    return how;
}

}  // namespace

TEST_CASE("every aggregate has its own name", "[processing]") {
    CHECK(to_string(Aggregate::min) == "min");
    CHECK(to_string(Aggregate::max) == "max");
    CHECK(to_string(Aggregate::mean) == "mean");
    CHECK(to_string(Aggregate::last) == "last");
    CHECK(to_string(Aggregate::count) == "count");
}

TEST_CASE("a window contains all values from its first instant to just before its end", "[processing]") {
    PipelineBench bench(with_window());
    for (const auto& [ms, value] : {std::pair{100, 3.0}, {130, -1.0}, {199, 4.0}}) {
        const auto outcome = bench.process(ms, value);
        CHECK(is_held_back(outcome, FilterReason::window));
        CHECK_FALSE(outcome.window_closed);
    }
    CHECK(bench.process(200, 100.0).window_closed);
    CHECK(bench.window().min == -1.0);
    CHECK(bench.window().max == 4.0);
    CHECK(bench.window().mean == Approx(2.0));
    CHECK(bench.window().last == 4.0);
    CHECK(bench.window().values == 3);
    CHECK(bench.window().quality == Quality::good);
    CHECK(bench.window().end_ns == PipelineBench::ns(200));
}

TEST_CASE("a window closes when time has passed without a reading", "[processing]") {
    PipelineBench bench(with_window());
    CHECK(bench.pipeline().due_ns() == std::numeric_limits<std::int64_t>::max());
    bench.process(130, 1.0);
    CHECK(bench.pipeline().due_ns() == PipelineBench::ns(200));
    CHECK_FALSE(bench.advance(199).window_closed);
    CHECK(bench.advance(730).window_closed);
    CHECK(bench.window().end_ns == PipelineBench::ns(200));
    CHECK_FALSE(bench.advance(900).window_closed);
}

TEST_CASE("windows without readings do not exist", "[processing]") {
    PipelineBench bench(with_window());
    bench.process(10, 1.0);
    CHECK(bench.process(950, 2.0).window_closed);
    CHECK(bench.process(1'000, 3.0).window_closed);
    CHECK(bench.window().end_ns == PipelineBench::ns(1'000));
    CHECK(bench.window().last == 2.0);
}

TEST_CASE("the quality of a window depends on its readings", "[processing]") {
    PipelineBench bench(with_window());
    SECTION("an uncertain value makes it uncertain") {
        bench.process(0, 1.0);
        bench.process(1, 2.0, Quality::uncertain);
        bench.advance(100);
        CHECK(bench.window().quality == Quality::uncertain);
        CHECK(bench.window().values == 2);
    }
    SECTION("a reading without a value makes it uncertain and does not count") {
        bench.process(0, 1.0);
        bench.absent(1);
        bench.advance(100);
        CHECK(bench.window().quality == Quality::uncertain);
        CHECK(bench.window().values == 1);
    }
    SECTION("readings without a value only make it bad") {
        bench.absent(0);
        bench.advance(100);
        CHECK(bench.window().quality == Quality::bad);
        CHECK(bench.window().values == 0);
    }
    SECTION("the next window is independent") {
        bench.absent(0);
        bench.process(100, 1.0);
        bench.advance(200);
        CHECK(bench.window().quality == Quality::good);
    }
}

TEST_CASE("with window_raw the values are sent too", "[processing]") {
    auto how = with_window();
    how.window_raw = true;
    PipelineBench bench(how);
    CHECK(bench.sent_of({1.0, 2.0}) == std::vector{1.0, 2.0});
    bench.advance(100);
    CHECK(bench.window().values == 2);
}

TEST_CASE("a late reading is counted in the open window", "[processing]") {
    PipelineBench bench(with_window());
    bench.process(110, 1.0);
    CHECK(bench.advance(200).window_closed);
    CHECK_FALSE(bench.process(190, 2.0).window_closed);
    CHECK_FALSE(bench.process(210, 3.0).window_closed);
    CHECK(bench.process(300, 4.0).window_closed);
    CHECK(bench.window().end_ns == PipelineBench::ns(300));
    CHECK(bench.window().values == 2);
}

TEST_CASE("windows restart if time runs back", "[processing]") {
    PipelineBench bench(with_window());
    bench.process(100'010, 1.0);
    CHECK(bench.process(110, 2.0).window_closed);
    CHECK(bench.advance(200).window_closed);
    CHECK(bench.window().end_ns == PipelineBench::ns(200));
    CHECK(bench.window().last == 2.0);
}

TEST_CASE("a reading closes the window before it even if it is suppressed", "[processing]") {
    auto how = with_window();
    how.deadband = 10.0;
    PipelineBench bench(how);
    bench.process(0, 1.0);
    const auto outcome = bench.process(100, 1.0);
    CHECK(is_held_back(outcome, FilterReason::deadband));
    CHECK(outcome.window_closed);
    CHECK_FALSE(bench.advance(200).window_closed);
}

TEST_CASE("texts and booleans have no windows", "[processing]") {
    PipelineBench bench(with_window());
    CHECK(is_sent(bench.text(0)));
    CHECK(is_sent(bench.absent(1)));
    CHECK(is_sent(bench.logical(2, true)));
    CHECK_FALSE(bench.advance(1'000).window_closed);
}

TEST_CASE("the first window is uncertain unless it has a reading at its beginning", "[processing]") {
    PipelineBench bench(with_window());
    bench.process(130, 1.0);
    CHECK(bench.process(200, 2.0).window_closed);
    CHECK(bench.window().is_partial);
    CHECK(bench.window().quality == Quality::uncertain);
    CHECK(bench.process(310, 3.0).window_closed);
    CHECK(bench.window().quality == Quality::good);

    PipelineBench whole(with_window());
    whole.process(100, 1.0);
    CHECK(whole.process(200, 2.0).window_closed);
    CHECK(whole.window().quality == Quality::good);
}

TEST_CASE("windows on the wall clock end at whole multiples of their length there", "[processing]") {
    auto how = with_window();
    how.window_align = WindowAlign::wall;
    PipelineBench bench(how);
    const auto take_at = [&](std::int64_t ms, std::int64_t ahead_ns) {
        bench.pipeline().record_times(
            {.reading_ns = PipelineBench::ns(ms), .utc_ns = PipelineBench::ns(ms) + ahead_ns});
        return bench.process(ms, 1.0).window_closed;
    };
    CHECK_FALSE(take_at(5, PipelineBench::ns(1'030)));
    CHECK_FALSE(take_at(69, PipelineBench::ns(1'030)));
    CHECK(take_at(70, PipelineBench::ns(1'030)));
    CHECK(bench.window().end_ns + bench.window().utc_less_mono_ns == PipelineBench::ns(1'100));
    SECTION("and are not shorter if the clock has drifted slightly") {
        CHECK(take_at(171, PipelineBench::ns(1'030) - 2'000));
        CHECK_FALSE(bench.window().is_partial);
        CHECK(take_at(271, PipelineBench::ns(1'030) - 2'000));
        CHECK_FALSE(bench.window().is_partial);
        CHECK(bench.window().end_ns + bench.window().utc_less_mono_ns == PipelineBench::ns(1'300));
    }
    SECTION("and follow clock steps with one shorter window") {
        CHECK(take_at(171, PipelineBench::ns(1'080)));
        CHECK_FALSE(bench.window().is_partial);
        CHECK(take_at(230, PipelineBench::ns(1'080)));
        CHECK(bench.window().is_partial);
        CHECK(bench.window().quality == Quality::uncertain);
        CHECK(bench.window().end_ns + bench.window().utc_less_mono_ns == PipelineBench::ns(1'300));
        CHECK(take_at(320, PipelineBench::ns(1'080)));
        CHECK_FALSE(bench.window().is_partial);
    }
}

TEST_CASE("a window continues through an unrelated change of settings", "[processing]") {
    PipelineBench before(with_window());
    before.process(100, 1.0);
    SECTION("with the same length") {
        PipelineBench bench(with_window());
        bench.pipeline().continue_from(before.pipeline());
        bench.process(150, 3.0);
        CHECK(bench.process(200, 9.0).window_closed);
        CHECK(bench.window().values == 2);
        CHECK(bench.window().quality == Quality::good);
    }
    SECTION("not with another length or scale") {
        auto how = with_window(GENERATE(100ms, 50ms));
        how.scale = how.window == 100ms ? 2.0 : 1.0;
        PipelineBench bench(how);
        bench.pipeline().continue_from(before.pipeline());
        bench.process(151, 3.0);
        CHECK(bench.process(200, 9.0).window_closed);
        CHECK(bench.window().values == 1);
        CHECK(bench.window().quality == Quality::uncertain);
    }
}
