#include "core/bounded_queue.hpp"

#include "bounded_queue_pusher.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <atomic>
#include <cstddef>
#include <span>
#include <thread>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

/// Every rule holds with either.
Producers any_producers() {
    const Producers producers = GENERATE(Producers::one, Producers::several);
    CAPTURE(static_cast<int>(producers));
    return producers;
}

}  // namespace

TEST_CASE("items come out in the order they went in, singly or in bulk", "[core][queue]") {
    BoundedQueue<int> queue(100, OverflowPolicy::drop_oldest, any_producers());
    queue.push(1, no_loss);
    queue.push(std::span<const int>(numbers(2, 50)), no_loss);
    CHECK(pop_up_to(queue, 1) == numbers(1, 1));
    CHECK(pop_up_to(queue, 30) == numbers(2, 30));
    CHECK(pop_up_to(queue, 100) == numbers(32, 20));
    CHECK(pop_up_to(queue, 100).empty());
}

TEST_CASE("drop_oldest keeps the newest items and hands the oldest to on_loss", "[core][queue]") {
    const int capacity = GENERATE(1, 5, 40, 100);
    CAPTURE(capacity);
    BoundedQueue<int> queue(static_cast<std::size_t>(capacity), OverflowPolicy::drop_oldest, any_producers());
    Pusher pusher{queue};
    pusher.push(numbers(0, 250));
    CHECK(pusher.lost == numbers(0, 250 - capacity));
    CHECK(pusher.losses == std::vector(pusher.lost.size(), QueueLoss::evicted));
    CHECK(pop_up_to(queue, 1'000) == numbers(250 - capacity, capacity));
}

TEST_CASE("drop_newest refuses what does not fit", "[core][queue]") {
    BoundedQueue<int> queue(5, OverflowPolicy::drop_newest, any_producers());
    Pusher pusher{queue};
    pusher.push(numbers(0, 8));
    CHECK(pusher.lost == numbers(5, 3));
    CHECK(pusher.losses == std::vector(3, QueueLoss::refused));
    CHECK(pop_up_to(queue, 1'000) == numbers(0, 5));
}

TEST_CASE("a closed queue refuses new items and keeps the old ones for the consumer", "[core][queue]") {
    const auto policy = GENERATE(OverflowPolicy::drop_oldest, OverflowPolicy::drop_newest, OverflowPolicy::block);
    BoundedQueue<int> queue(5, policy, any_producers());
    Pusher pusher{queue};
    pusher.push(numbers(0, 5));
    queue.close();
    pusher.push(numbers(5, 2));
    CHECK(pusher.lost == numbers(5, 2));
    CHECK(pusher.losses == std::vector(2, QueueLoss::closed));
    CHECK(queue.lost() == 2);
    CHECK(pop_up_to(queue, 1'000) == numbers(0, 5));
}

TEST_CASE("resize loses nothing, and none enters without one leaving until the consumer has caught up",
          "[core][queue]") {
    BoundedQueue<int> queue(8, OverflowPolicy::drop_newest, any_producers());
    Pusher pusher{queue};
    pusher.push(numbers(0, 8));
    queue.resize(3);
    CHECK(queue.size() == 8);
    CHECK(queue.capacity() == 3);
    CHECK(pop_up_to(queue, 4) == numbers(0, 4));
    pusher.push({100});
    CHECK(pusher.lost == std::vector{100});
    queue.set_policy(OverflowPolicy::drop_oldest);
    pusher.push({101});
    CHECK(pusher.lost == std::vector{100, 4});
    CHECK(pop_up_to(queue, 100) == std::vector{5, 6, 7, 101});
}

TEST_CASE("a larger capacity takes effect at once", "[core][queue]") {
    BoundedQueue<int> queue(2, OverflowPolicy::drop_newest, any_producers());
    queue.resize(500);
    Pusher pusher{queue};
    pusher.push(numbers(0, 500));
    CHECK(pusher.lost.empty());
    CHECK(queue.high_water() == 500);
    CHECK(pop_up_to(queue, 1'000) == numbers(0, 500));
}

TEST_CASE("each overflow policy has a name", "[core][queue]") {
    CHECK(to_string(OverflowPolicy::drop_oldest) == "drop_oldest");
    CHECK(to_string(OverflowPolicy::drop_newest) == "drop_newest");
    CHECK(to_string(OverflowPolicy::block) == "block");
}

TEST_CASE("with policy block a producer waits for room and loses nothing", "[core][queue]") {
    BoundedQueue<int> queue(2, OverflowPolicy::block, any_producers());
    Pusher pusher{queue};
    std::thread producer([&] { pusher.push(numbers(0, 1'000)); });
    std::vector<int> popped;
    CHECK(eventually([&] {
        const auto some = pop_up_to(queue, 3);
        popped.insert(popped.end(), some.begin(), some.end());
        return popped.size() == 1'000;
    }));
    queue.close();
    producer.join();
    CHECK(popped == numbers(0, 1'000));
    CHECK(pusher.lost.empty());
}

TEST_CASE("close wakes a producer that waits for room, and its item counts as lost", "[core][queue]") {
    BoundedQueue<int> queue(1, OverflowPolicy::block, any_producers());
    Pusher pusher{queue};
    std::thread producer([&] { pusher.push({1, 2, 3}); });
    CHECK(eventually([&] { return queue.size() == 1; }));
    queue.close();
    producer.join();
    CHECK(pusher.lost == std::vector{2, 3});
    CHECK(pusher.losses == std::vector(2, QueueLoss::closed));
}

TEST_CASE("more capacity wakes a producer that waits for room", "[core][queue]") {
    BoundedQueue<int> queue(1, OverflowPolicy::block, any_producers());
    Pusher pusher{queue};
    std::thread producer([&] { pusher.push({1, 2, 3}); });
    CHECK(eventually([&] { return queue.size() == 1; }));
    queue.resize(3);
    producer.join();
    CHECK(pusher.lost.empty());
    CHECK(queue.size() == 3);
}

TEST_CASE("another policy wakes a producer that waits for room", "[core][queue]") {
    BoundedQueue<int> queue(1, OverflowPolicy::block, any_producers());
    Pusher pusher{queue};
    std::thread producer([&] { pusher.push({1, 2, 3}); });
    CHECK(eventually([&] { return queue.size() == 1; }));
    queue.set_policy(OverflowPolicy::drop_newest);
    producer.join();
    CHECK(pusher.lost == std::vector{2, 3});
}

TEST_CASE("a producer that has to wait says so first, with all in the queue that fits", "[core][queue]") {
    BoundedQueue<int> queue(3, OverflowPolicy::block, any_producers());
    std::atomic<int> waits{0};
    std::atomic<bool> was_full{true};
    std::thread producer([&] {
        const std::vector<int> items = numbers(0, 9);
        queue.push(std::span<const int>(items), no_loss, [&] {
            was_full = was_full && queue.size() == 3;
            ++waits;
        });
    });
    std::vector<int> popped;
    for (int wait = 1; popped.size() < 6; ++wait) {  // the last three fit without a wait
        REQUIRE(eventually([&] { return waits >= wait; }));
        const auto some = pop_up_to(queue, 3);
        popped.insert(popped.end(), some.begin(), some.end());
    }
    producer.join();
    CHECK(popped == numbers(0, 6));
    CHECK(pop_up_to(queue, 100) == numbers(6, 3));
    CHECK(was_full);
}

TEST_CASE("a producer that need not wait does not say so", "[core][queue]") {
    const auto policy = GENERATE(OverflowPolicy::drop_oldest, OverflowPolicy::drop_newest);
    BoundedQueue<int> queue(3, policy, any_producers());
    int waits = 0;
    const std::vector<int> items = numbers(0, 9);
    queue.push(std::span<const int>(items), no_loss, [&] { ++waits; });
    CHECK(waits == 0);
}
