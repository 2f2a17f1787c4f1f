#include "uplink/receipts.hpp"

#include "support/catch.hpp"

#include <chrono>
#include <cstdint>

namespace telegate::uplink {
namespace {

using std::chrono::seconds;

constexpr seconds grace{64};
constexpr MonoTime start{std::chrono::hours(1)};

/// Delivers ten entries of the log each second.
void deliver(Receipts& receipts, int end_s) {
    for (int second = 0; second < end_s; ++second) {
        receipts.record_delivered(start + seconds(second), static_cast<store::Position>(second) * 10 + 10);
        receipts.expire(start + seconds(second));
    }
}

}  // namespace

TEST_CASE("deliveries within the grace are kept and can be repeated", "[uplink][receipts]") {
    Receipts receipts(grace);
    receipts.restore(start, 5, 0);
    deliver(receipts, 50);
    CHECK(receipts.keep_from() == 0);
    CHECK(receipts.resend_from() == 5);
    deliver(receipts, 200);
    CHECK(receipts.keep_from() > 1'300);
    CHECK(receipts.keep_from() <= 1'360);
    CHECK(receipts.resend_from() == receipts.keep_from());
    receipts.rewind(start + seconds(200), 1'000);
    CHECK(receipts.keep_from() == 1'000);
    CHECK(receipts.resend_from() == 1'000);
    receipts.expire(start + seconds(200) + grace);
    CHECK(receipts.keep_from() == 1'000);
}

TEST_CASE("there is a receipt for the last position, however often positions are recorded", "[uplink][receipts]") {
    Receipts receipts(grace);
    for (std::uint64_t i = 1; i <= 1'000; ++i) {
        receipts.record_delivered(start + std::chrono::milliseconds(i), i);
    }
    receipts.expire(start + grace + seconds(1));
    CHECK(receipts.keep_from() == 1'000);
}

TEST_CASE("a message that is stored where an earlier one was shows that it is lost", "[uplink][receipts]") {
    Receipts receipts(grace);
    const auto note = [&](std::uint64_t first, std::uint64_t last, Place place) {
        receipts.record_stored({first, last, true}, place, false);
        return receipts.has_loss();
    };
    SECTION("after the earlier one was acknowledged") {
        CHECK_FALSE(note(1, 1, 1));
        CHECK(note(2, 2, 1));
        receipts.rewind(start, 0);
        CHECK_FALSE(receipts.has_loss());
        CHECK_FALSE(note(3, 3, 2));
    }
    SECTION("but not if responses overtake each other") {
        CHECK_FALSE(note(2, 2, 2));
        CHECK_FALSE(note(1, 1, 1));
        CHECK_FALSE(note(4, 4, 4));
        CHECK(note(3, 3, 2));
    }
    SECTION("also if the later one was acknowledged first") {
        CHECK_FALSE(note(2, 2, 2));
        CHECK(note(1, 1, 3));
    }
    SECTION("but not if it was sent again later") {
        CHECK_FALSE(note(2, 2, 2));
        CHECK_FALSE(note(1, 3, 3));
    }
    SECTION("also if it was sent before, but was not stored then") {
        CHECK_FALSE(note(2, 2, 2));
        CHECK(note(1, 3, 2));
    }
    SECTION("also if its first acknowledgment was lost") {
        CHECK_FALSE(note(1, 1, 2));
        receipts.record_stored({2, 3, true}, 2, true);
        CHECK(receipts.has_loss());
    }
    SECTION("but not if it may have been stored long ago") {
        CHECK_FALSE(note(1, 1, 2));
        receipts.record_stored({2, 3, false}, 1, true);
        CHECK_FALSE(receipts.has_loss());
        CHECK(receipts.last_place() == 2);
    }
    SECTION("also after many others") {
        for (std::uint64_t i = 1; i <= 2 * Receipts::places_max; ++i) {
            CHECK_FALSE(note(i, i, i));
        }
        CHECK(note(1'000, 1'000, 2));
    }
}

TEST_CASE("a back end whose last place goes back has lost messages", "[uplink][receipts]") {
    Receipts receipts(grace);
    receipts.restore(start, 0, 10);
    receipts.compare(10, receipts.last_place());
    CHECK_FALSE(receipts.has_loss());
    receipts.compare(9, receipts.last_place());
    CHECK(receipts.has_loss());
    CHECK(receipts.last_place() == 9);
}

}  // namespace telegate::uplink
