#include "session/age_marks.hpp"

#include "session/backlog.hpp"
#include "support/catch.hpp"
#include "support/zmtp_text.hpp"

#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>

using namespace telegate;
using std::chrono::milliseconds;

namespace {

constexpr milliseconds age{160};
constexpr milliseconds step_length{10};

/// Calls look() at regular steps; 100 bytes are published in each.
struct Looks {
    explicit Looks(std::uint32_t ticks) : marks(ticks) {}
    void look() {
        now += step_length;
        position += 100;
        marks.look(now, position, age);
    }

    AgeMarks marks;
    AgeMarks::Time now{};
    std::uint64_t position = 0;
};

}  // namespace

TEST_CASE("published data is old after its age plus one step, and not before", "[core][session][age]") {
    const auto ticks = GENERATE(0U, UINT32_MAX - 1, UINT32_MAX / 2 - 1);
    Looks looks(ticks);
    looks.look();
    const std::uint32_t tick = looks.marks.tick();
    CHECK(looks.marks.tick_at(looks.position) == tick);
    looks.look();
    const auto old_at = looks.now + age;
    while (looks.now < old_at) {
        const auto old = looks.marks.published_before(looks.now - age);
        CHECK_FALSE((old.up_to_tick != 0 && AgeMarks::is_up_to(old.up_to_tick, tick)));
        looks.look();
    }
    const auto old = looks.marks.published_before(looks.now - age);
    CHECK(old.before_position == 200);
    CHECK(AgeMarks::is_up_to(old.up_to_tick, tick));
    CHECK_FALSE(AgeMarks::is_up_to(old.up_to_tick, looks.marks.tick()));
}

TEST_CASE("no tick is 0, even after ticks restart", "[core][session][age]") {
    Looks looks(UINT32_MAX - 3);
    for (int i = 0; i < 6; ++i) {
        CHECK(looks.marks.tick() != 0);
        looks.look();
        CHECK(looks.marks.tick_at(looks.position - 1) != 0);
        CHECK(looks.marks.published_before(looks.now).up_to_tick != 0);
    }
}

TEST_CASE("messages in a peer's own log are dropped by their tick, even after ticks restart", "[core][session][age]") {
    SegmentPool pool(1'024);
    SegmentLog log(pool);
    Backlog backlog(10);
    const std::string wire = test::message("topic", "payload");
    for (const std::uint32_t tick : {UINT32_MAX - 1, 2U}) {
        std::memcpy(log.prepare(wire.size()), wire.data(), wire.size());
        CHECK(backlog.add_own(log.commit(wire.size()), tick) == 0);
    }
    CHECK(backlog.drop_older(0, UINT32_MAX - 2) == 0);
    CHECK(backlog.drop_older(0, 1) == 1);
    CHECK(backlog.drop_older(0, 2) == 1);
}
