#include "core/taker_guard.hpp"

#include "support/catch.hpp"

#include <atomic>
#include <chrono>
#include <thread>

using namespace telegate;

namespace {

/// Which side is inside; each checks for the other. The flags are on separate cache lines, so that neither side waits
/// for the other's.
struct Room {
    alignas(64) std::atomic<bool> consumer{false};
    alignas(64) std::atomic<bool> evictor{false};
    alignas(64) TakerGuard guard;
};

/// Enters, checks and leaves. Returns whether the other side was inside too.
template <class Taker>
bool meets_other(Room& room, std::atomic<bool>& mine, const std::atomic<bool>& other, int looks) {
    const Taker taker(room.guard);
    mine.store(true, std::memory_order_relaxed);
    bool met = false;
    for (int look = 0; look < looks; ++look) {
        met = met || other.load(std::memory_order_relaxed);
    }
    mine.store(false, std::memory_order_relaxed);
    return met;
}

}  // namespace

TEST_CASE("a consumer and an evictor that comes and goes are never inside at the same time", "[core][thread]") {
    constexpr int looks = 50;
    constexpr int long_looks = 2'000;  // longer than an evictor takes to return from the kernel
    constexpr int stays_max = 50'000;
    constexpr int takes_between = 8;  // at most
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
    Room room;
    std::atomic<bool> stop{false};
    std::atomic<int> taken{0};
    int met_by_consumer = 0;
    std::thread consumer([&] {
        while (!stop) {
            met_by_consumer += meets_other<TakerGuard::Consumer>(room, room.consumer, room.evictor, long_looks) ? 1 : 0;
            taken.fetch_add(1, std::memory_order_relaxed);
        }
    });
    int met_by_evictor = 0;
    for (int stay = 0; stay < stays_max && std::chrono::steady_clock::now() < end; ++stay) {
        const int wanted = taken + 1 + stay % takes_between;
        while (taken < wanted) {
        }
        met_by_evictor += meets_other<TakerGuard::Evictor>(room, room.evictor, room.consumer, looks) ? 1 : 0;
        room.guard.evictors_leave();
    }
    stop = true;
    consumer.join();
    CHECK(met_by_consumer == 0);
    CHECK(met_by_evictor == 0);
}

TEST_CASE("a consumer takes without a turn again after evictors have left", "[core]") {
    TakerGuard guard;
    CHECK_FALSE(guard.evictors_are_here());
    { const TakerGuard::Evictor evictor(guard); }
    CHECK(guard.evictors_are_here());
    guard.evictors_leave();
    CHECK_FALSE(guard.evictors_are_here());
    { const TakerGuard::Consumer consumer(guard); }
    { const TakerGuard::Evictor evictor(guard); }  // would wait forever for a turn that was not returned
    CHECK(guard.evictors_are_here());
}
