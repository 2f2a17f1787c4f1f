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

/// Calls update() at regular steps; 100 bytes are published in each.
struct Updates {
    explicit Updates(std::uint32_t ticks) : marks(ticks) {}
    void update() {
        now += step_length;
        position += 100;
        marks.update(now, position, age);
    }

    AgeMarks marks;
    AgeMarks::Time now{};
    std::uint64_t position = 0;
};

}  // namespace

TEST_CASE("published data is old after its age plus one step, and not before", "[core][session][age]") {
    const auto ticks = GENERATE(0U, UINT32_MAX - 1, UINT32_MAX / 2 - 1);
    Updates updates(ticks);
    updates.update();
    const std::uint32_t tick = updates.marks.tick();
    CHECK(updates.marks.tick_at(updates.position) == tick);
    updates.update();
    const auto old_at = updates.now + age;
    while (updates.now < old_at) {
        const auto old = updates.marks.published_before(updates.now - age);
        CHECK_FALSE((old.up_to_tick != 0 && AgeMarks::is_up_to(old.up_to_tick, tick)));
        updates.update();
    }
    const auto old = updates.marks.published_before(updates.now - age);
    CHECK(old.before_position == 200);
    CHECK(AgeMarks::is_up_to(old.up_to_tick, tick));
    CHECK_FALSE(AgeMarks::is_up_to(old.up_to_tick, updates.marks.tick()));
}

TEST_CASE("no tick is 0, even after ticks restart", "[core][session][age]") {
    Updates updates(UINT32_MAX - 3);
    for (int i = 0; i < 6; ++i) {
        CHECK(updates.marks.tick() != 0);
        updates.update();
        CHECK(updates.marks.tick_at(updates.position - 1) != 0);
        CHECK(updates.marks.published_before(updates.now).up_to_tick != 0);
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
