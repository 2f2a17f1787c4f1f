#include "deadline_grid.hpp"

#include "support/catch.hpp"

#include <set>

using namespace telegate;
using namespace std::chrono_literals;

namespace {

constexpr MonoTime grid_start{1'234'567ms};
constexpr std::int64_t utc_ahead_ns = 1'700'000'000'123'456'789;

std::int64_t utc_of(MonoTime time, std::int64_t ahead = utc_ahead_ns) {
    return to_ns(time) + ahead;
}

DeadlineGrid grid_of(GridRule rule) {
    DeadlineGrid grid;
    grid.set_rule(rule);
    grid.begin(grid_start, utc_ahead_ns);
    return grid;
}

}  // namespace

TEST_CASE("deadlines counted from the start begin immediately, or an offset later", "[device][grid]") {
    CHECK(grid_of({.interval = 10ms}).due() == grid_start);
    CHECK(grid_of({.interval = 10ms, .offset = 3ms}).due() == grid_start + 3ms);
}

TEST_CASE("deadlines are one interval apart, and missed ones are counted", "[device][grid]") {
    DeadlineGrid grid = grid_of({.interval = 10ms});
    CHECK(grid.advance(grid_start) == 0);
    CHECK(grid.due() == grid_start + 10ms);
    CHECK(grid.advance(grid_start + 45ms) == 3);
    CHECK(grid.due() == grid_start + 50ms);
}

TEST_CASE("wall-clock deadlines are whole multiples of the interval, plus the offset", "[device][grid]") {
    const Duration offset = GENERATE(0ms, 3ms);
    DeadlineGrid grid = grid_of({.interval = 10ms, .alignment = Alignment::wall, .offset = offset});
    for (int i = 0; i < 3; ++i) {
        CHECK(grid.due() >= grid_start);
        CHECK((utc_of(grid.due()) - offset.count()) % 10'000'000 == 0);
        CHECK_FALSE(grid.is_off(utc_ahead_ns));
        grid.advance(grid.due());
    }
}

TEST_CASE("after a step of the wall clock, deadlines are realigned by at most half an interval", "[device][grid]") {
    const std::int64_t step_ms = GENERATE(-86'400'123, -7, -4, 2, 6, 3'600'003);
    const std::int64_t ahead = utc_ahead_ns + step_ms * 1'000'000;
    DeadlineGrid grid = grid_of({.interval = 10ms, .alignment = Alignment::wall});
    const MonoTime before = grid.due();
    REQUIRE(grid.is_off(ahead));
    grid.realign(ahead);
    CHECK(utc_of(grid.due(), ahead) % 10'000'000 == 0);
    CHECK(grid.due() - before >= -5ms);
    CHECK(grid.due() - before <= 5ms);
}

TEST_CASE("the uncertainty of two clock readings is not a step, and other alignments ignore steps", "[device][grid]") {
    CHECK_FALSE(grid_of({.interval = 10ms, .alignment = Alignment::wall}).is_off(utc_ahead_ns + 900'000));
    CHECK_FALSE(grid_of({.interval = 10ms}).is_off(utc_ahead_ns + 5'000'000));
}

TEST_CASE("spread devices have different deadlines, which do not depend on their start", "[device][grid]") {
    std::set<std::int64_t> places;
    for (std::uint32_t place = 0; place < 20; ++place) {
        DeadlineGrid grid = grid_of({.interval = 1s, .alignment = Alignment::spread, .place = place});
        CHECK(grid.due() >= grid_start);
        CHECK(grid.due() < grid_start + 1s);
        places.insert(to_ns(grid.due()) % 1'000'000'000 / 20'000'000);  // of 50 slots
        const MonoTime first = grid.due();
        grid.begin(grid_start + 300s, 0);
        CHECK((grid.due() - first) % 1s == 0s);
    }
    CHECK(places.size() >= 18);
}

TEST_CASE("a different rule restarts the grid, the same rule does not", "[device][grid]") {
    DeadlineGrid grid = grid_of({.interval = 10ms});
    grid.set_rule({.interval = 10ms});
    CHECK(grid.has_begun());
    grid.set_rule({.interval = 20ms});
    CHECK_FALSE(grid.has_begun());
}
