#include "core/bounded_queue.hpp"

#include "core/queue/bounded_queue_pusher.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <atomic>
#include <cstddef>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace telegate;
using namespace telegate::test;

TEST_CASE("items leave in the order in which they were added, singly or in bulk", "[core][queue]") {
    BoundedQueue<int> queue(100, OverflowPolicy::drop_oldest);
    queue.push(queue.first(), 1, no_loss);
    queue.push(queue.first(), std::span<const int>(numbers(2, 50)), no_loss);
    CHECK(pop_up_to(queue, 1) == numbers(1, 1));
    CHECK(pop_up_to(queue, 30) == numbers(2, 30));
    CHECK(pop_up_to(queue, 100) == numbers(32, 20));
    CHECK(pop_up_to(queue, 100).empty());
}

TEST_CASE("drop_oldest keeps the newest items and passes the oldest to on_loss", "[core][queue]") {
    const int capacity = GENERATE(1, 5, 40, 100);
    CAPTURE(capacity);
    BoundedQueue<int> queue(static_cast<std::size_t>(capacity), OverflowPolicy::drop_oldest);
    Pusher pusher{queue};
    pusher.push(numbers(0, 250));
    CHECK(pusher.lost == numbers(0, 250 - capacity));
    CHECK(pusher.losses == std::vector(pusher.lost.size(), QueueLoss::evicted));
    CHECK(pop_up_to(queue, 1'000) == numbers(250 - capacity, capacity));
}

TEST_CASE("drop_newest refuses items that do not fit", "[core][queue]") {
    BoundedQueue<int> queue(5, OverflowPolicy::drop_newest);
    Pusher pusher{queue};
    pusher.push(numbers(0, 8));
    CHECK(pusher.lost == numbers(5, 3));
    CHECK(pusher.losses == std::vector(3, QueueLoss::refused));
    CHECK(pop_up_to(queue, 1'000) == numbers(0, 5));
}

TEST_CASE("a closed queue refuses new items and keeps the old ones for the consumer", "[core][queue]") {
    const auto policy = GENERATE(OverflowPolicy::drop_oldest, OverflowPolicy::drop_newest, OverflowPolicy::block);
    BoundedQueue<int> queue(5, policy);
    Pusher pusher{queue};
    pusher.push(numbers(0, 5));
    queue.close();
    pusher.push(numbers(5, 2));
    CHECK(pusher.lost == numbers(5, 2));
    CHECK(pusher.losses == std::vector(2, QueueLoss::closed));
    CHECK(queue.lost() == 2);
    CHECK(pop_up_to(queue, 1'000) == numbers(0, 5));
}

TEST_CASE("resize loses nothing, and until the consumer has caught up an item can only replace another",
          "[core][queue]") {
    BoundedQueue<int> queue(8, OverflowPolicy::drop_newest);
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

TEST_CASE("a larger capacity takes effect immediately", "[core][queue]") {
    BoundedQueue<int> queue(2, OverflowPolicy::drop_newest);
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

TEST_CASE("with policy block, a producer waits for capacity and loses nothing", "[core][queue]") {
    BoundedQueue<int> queue(2, OverflowPolicy::block);
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

TEST_CASE("close wakes a producer that waits for capacity, and its items count as lost", "[core][queue]") {
    BoundedQueue<int> queue(1, OverflowPolicy::block);
    Pusher pusher{queue};
    std::thread producer([&] { pusher.push({1, 2, 3}); });
    CHECK(eventually([&] { return queue.size() == 1; }));
    queue.close();
    producer.join();
    CHECK(pusher.lost == std::vector{2, 3});
    CHECK(pusher.losses == std::vector(2, QueueLoss::closed));
}

TEST_CASE("a larger capacity wakes a producer that waits for capacity", "[core][queue]") {
    BoundedQueue<int> queue(1, OverflowPolicy::block);
    Pusher pusher{queue};
    std::thread producer([&] { pusher.push({1, 2, 3}); });
    CHECK(eventually([&] { return queue.size() == 1; }));
    queue.resize(3);
    producer.join();
    CHECK(pusher.lost.empty());
    CHECK(queue.size() == 3);
}

TEST_CASE("another policy wakes a producer that waits for capacity", "[core][queue]") {
    BoundedQueue<int> queue(1, OverflowPolicy::block);
    Pusher pusher{queue};
    std::thread producer([&] { pusher.push({1, 2, 3}); });
    CHECK(eventually([&] { return queue.size() == 1; }));
    queue.set_policy(OverflowPolicy::drop_newest);
    producer.join();
    CHECK(pusher.lost == std::vector{2, 3});
}

TEST_CASE("on_wait is called before a producer waits, when the queue is full", "[core][queue]") {
    BoundedQueue<int> queue(3, OverflowPolicy::block);
    std::atomic<int> waits{0};
    std::atomic<bool> was_full{true};
    std::thread producer([&] {
        const std::vector<int> items = numbers(0, 9);
        queue.push(queue.first(), std::span<const int>(items), no_loss, [&] {
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

TEST_CASE("on_wait is not called if a producer does not have to wait", "[core][queue]") {
    const auto policy = GENERATE(OverflowPolicy::drop_oldest, OverflowPolicy::drop_newest);
    BoundedQueue<int> queue(3, policy);
    int waits = 0;
    const std::vector<int> items = numbers(0, 9);
    queue.push(queue.first(), std::span<const int>(items), no_loss, [&] { ++waits; });
    CHECK(waits == 0);
}

namespace {

/// Two producers of a queue for 80 items: each has a share of 20, and 40 can be lent.
struct Shares {
    explicit Shares(OverflowPolicy policy) : queue(80, policy), calm{queue, &queue.first()} {
        flooding.producer = &queue.add_producer();
        queue.enroll(*flooding.producer);
    }

    BoundedQueue<int> queue;
    Pusher calm;
    Pusher flooding{queue};
};

}  // namespace

TEST_CASE("a producer that floods the queue does not use the share of another one", "[core][queue]") {
    const auto policy = GENERATE(OverflowPolicy::drop_oldest, OverflowPolicy::drop_newest);
    CAPTURE(to_string(policy));
    Shares shares(policy);
    shares.flooding.push(numbers(0, 500));
    CHECK(shares.queue.size() == 60);
    shares.calm.push(numbers(1'000, 20));
    CHECK(shares.calm.lost.empty());
    CHECK(shares.flooding.lost.size() == 440);
    CHECK(shares.queue.size() == 80);
    shares.calm.push({1'020});
    CHECK(shares.calm.lost.size() == 1);
}

TEST_CASE("lent capacity is returned when items are taken, and then lent to the producer that needs it",
          "[core][queue]") {
    Shares shares(OverflowPolicy::drop_newest);
    shares.flooding.push(numbers(0, 60));
    REQUIRE(shares.flooding.lost.empty());
    shares.calm.push(numbers(1'000, 21));
    CHECK(shares.calm.lost == numbers(1'020, 1));
    CHECK(pop_up_to(shares.queue, 80).size() == 80);
    shares.calm.push(numbers(2'000, 60));
    CHECK(shares.calm.lost == numbers(1'020, 1));
    CHECK(shares.queue.size() == 60);
    shares.flooding.push(numbers(60, 21));
    CHECK(shares.flooding.lost == numbers(80, 1));
}

TEST_CASE("producers are served in turn, with an equal part each", "[core][queue]") {
    Shares shares(OverflowPolicy::drop_newest);
    shares.flooding.push(numbers(0, 60));
    shares.calm.push(numbers(1'000, 8));
    std::vector<int> first = numbers(0, 5);
    first.insert(first.end(), {1'000, 1'001, 1'002, 1'003, 1'004});
    CHECK(pop_up_to(shares.queue, 10) == first);
    std::vector<int> second = numbers(5, 5);
    second.insert(second.end(), {1'005, 1'006, 1'007, 10, 11});
    CHECK(pop_up_to(shares.queue, 10) == second);
    CHECK(pop_up_to(shares.queue, 100) == numbers(12, 48));
}

TEST_CASE("a producer that nearly fills each batch does not starve another one", "[core][queue]") {
    Shares shares(OverflowPolicy::drop_oldest);
    for (int round = 0; round < 100; ++round) {
        shares.flooding.push(numbers(0, 39));
        shares.calm.push(numbers(0, 19));
        CHECK(pop_up_to(shares.queue, 40).size() == 40);
    }
    CHECK(shares.calm.lost.empty());
    CHECK_FALSE(shares.flooding.lost.empty());
}

TEST_CASE("a waiting producer is woken when the queue is emptied by batches that are filled exactly", "[core][queue]") {
    BoundedQueue<int> queue(16, OverflowPolicy::block);
    Pusher waiting{queue};
    for (int other = 0; other < 15; ++other) {
        queue.enroll(queue.add_producer());
    }
    std::thread producer([&] { waiting.push(numbers(0, 10)); });
    std::size_t popped = 0;
    CHECK(eventually([&] { return (popped += pop_up_to(queue, 1).size()) == 10; }));
    producer.join();
    CHECK(waiting.lost.empty());
}

TEST_CASE("a retired producer leaves its share to the others", "[core][queue]") {
    Shares shares(OverflowPolicy::drop_newest);
    CHECK(shares.queue.guaranteed(*shares.calm.producer) == 20);
    shares.queue.retire(*shares.flooding.producer);
    shares.queue.retire(*shares.flooding.producer);
    CHECK(shares.queue.guaranteed(*shares.calm.producer) == 80);
    shares.calm.push(numbers(0, 80));
    CHECK(shares.calm.lost.empty());
    shares.queue.enroll(*shares.flooding.producer);
    CHECK(shares.queue.guaranteed(*shares.calm.producer) == 20);
    shares.flooding.push(numbers(100, 20));
    CHECK(shares.flooding.lost.empty());
    shares.calm.push({80});
    CHECK(shares.calm.lost == std::vector{80});
}

TEST_CASE("a producer that waits for capacity does not block another one", "[core][queue]") {
    Shares shares(OverflowPolicy::block);
    std::thread flood([&] { shares.flooding.push(numbers(0, 500)); });
    CHECK(eventually([&] { return shares.queue.size() == 60; }));
    shares.calm.push(numbers(1'000, 20));
    CHECK(shares.queue.size() == 80);
    std::size_t popped = 0;
    CHECK(eventually([&] { return (popped += pop_up_to(shares.queue, 30).size()) == 520; }));
    flood.join();
    CHECK(shares.flooding.lost.empty());
}

TEST_CASE("every producer has capacity for one item, even with more producers than capacity", "[core][queue]") {
    BoundedQueue<int> queue(1, OverflowPolicy::drop_oldest);
    for (int number = 0; number < 3; ++number) {
        Pusher pusher{queue, number == 0 ? &queue.first() : &queue.add_producer()};
        queue.enroll(*pusher.producer);
        pusher.push({number, number});
        CHECK(pusher.lost == std::vector{number});
    }
    CHECK(queue.size() == 3);
}

TEST_CASE("the number of producers is limited", "[core][queue]") {
    BoundedQueue<int> queue(1);
    while (queue.producers() < BoundedQueue<int>::producers_max) {
        (void)queue.add_producer();
    }
    CHECK_THROWS_AS(queue.add_producer(), std::length_error);
}
