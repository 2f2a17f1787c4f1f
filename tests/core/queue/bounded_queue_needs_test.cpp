#include "bounded_queue_pusher.hpp"
#include "support/catch.hpp"

#include <cstddef>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

struct Need {
    Need(std::size_t all) : Need(all, all) {}
    Need(std::size_t certain, std::size_t possible) : known(certain), items(possible) {}

    std::size_t known;
    std::size_t items;
};

/// A queue with one producer for each need.
struct NeedyQueue {
    NeedyQueue(std::size_t capacity, const std::vector<Need>& needs,
               OverflowPolicy policy = OverflowPolicy::drop_newest)
        : queue(capacity, policy) {
        for (const Need& need : needs) {
            producers.push_back(producers.empty() ? &queue.first() : &queue.add_producer());
            queue.enroll(*producers.back());
            queue.set_need(*producers.back(), need.known, need.items);
        }
    }
    std::vector<std::size_t> shares() const {
        std::vector<std::size_t> shares;
        for (const auto* const producer : producers) {
            shares.push_back(queue.guaranteed(*producer));
        }
        return shares;
    }

    BoundedQueue<int> queue;
    std::vector<BoundedQueue<int>::Producer*> producers;
};

using Sizes = std::vector<std::size_t>;

}  // namespace

TEST_CASE("each producer gets what it needs if half of the queue holds that, and the rest is divided equally",
          "[core][queue]") {
    CHECK(NeedyQueue(200, {10, 50, 0}).shares() == Sizes{10 + 13, 50 + 13, 13});
    CHECK(NeedyQueue(60, {0, 0, 0}).shares() == Sizes{10, 10, 10});
    CHECK(NeedyQueue(100, {30}).shares() == Sizes{100});
}

TEST_CASE("a producer that needs more than there is takes nothing away from those that need little", "[core][queue]") {
    CHECK(NeedyQueue(200, {10, 1'000'000, 30}).shares() == Sizes{10, 60, 30});
    CHECK(NeedyQueue(200, {100'000, 1'000'000, 30}).shares() == Sizes{35, 35, 30});
    CHECK(NeedyQueue(2, {5, 5, 5}).shares() == Sizes{1, 1, 1});
}

TEST_CASE("the possible needs of some producers take nothing away from the known needs of others", "[core][queue]") {
    CHECK(NeedyQueue(2'000, {300, {20, 1'000}, {10, 1'000}}).shares() == Sizes{300, 350, 350});
    CHECK(NeedyQueue(2'000, {900, {20, 1'000}, {10, 1'000}}).shares() == Sizes{900, 50, 50});
    CHECK(NeedyQueue(2'000, {5'000, {20, 1'000}, {10, 1'000}}).shares() == Sizes{970, 20, 10});
    CHECK(NeedyQueue(2'000, {800, {700, 700}, {0, 1'000}}).shares() == Sizes{500, 500, 1});
}

TEST_CASE("a queue that holds one burst of each producer loses none, however unequal they are", "[core][queue]") {
    NeedyQueue needy(1'030, {10, 1'000, 20});
    std::vector<Pusher> pushers;
    for (auto* const producer : needy.producers) {
        pushers.push_back({needy.queue, producer});
    }
    pushers[1].push(numbers(0, 1'000));
    pushers[0].push(numbers(0, 10));
    pushers[2].push(numbers(0, 20));
    for (const Pusher& pusher : pushers) {
        CHECK(pusher.lost.empty());
    }
}

TEST_CASE("the capacity follows the needs of the enrolled producers, within its limits", "[core][queue]") {
    using Queue = BoundedQueue<int>;
    NeedyQueue needy(1, {10, 20});
    needy.queue.follow_needs();
    CHECK(needy.queue.capacity() == Queue::capacity_auto_min);
    needy.queue.set_need(*needy.producers[1], 5'000, 5'000);
    CHECK(needy.queue.capacity() == 10'020);
    CHECK(needy.shares() == Sizes{10, 5'000});
    needy.queue.retire(*needy.producers[1]);
    CHECK(needy.queue.capacity() == Queue::capacity_auto_min);
    needy.queue.set_need(*needy.producers[0], SIZE_MAX, SIZE_MAX);
    CHECK(needy.queue.capacity() == Queue::capacity_auto_max);
    needy.queue.resize(77);
    CHECK(needy.queue.capacity() == 77);
    needy.queue.set_need(*needy.producers[0], 100, 100);
    CHECK(needy.queue.capacity() == 77);
}

TEST_CASE("a flood does not touch what another producer needs, in a queue that follows the needs", "[core][queue]") {
    const auto policy = GENERATE(OverflowPolicy::drop_oldest, OverflowPolicy::drop_newest);
    NeedyQueue needy(1, {300, 1'024, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64}, policy);
    needy.queue.follow_needs();
    Pusher flood{needy.queue, needy.producers[1]};
    flood.push(numbers(0, 100'000));
    CHECK(flood.lost.size() > 90'000);
    for (const auto& [index, count] : {std::pair(0, 300), std::pair(5, 64)}) {
        Pusher calm{needy.queue, needy.producers[static_cast<std::size_t>(index)]};
        calm.push(numbers(0, count));
        CHECK(calm.lost.empty());
    }
}

TEST_CASE("a producer that is not enrolled can still replace its oldest item in a full queue", "[core][queue]") {
    NeedyQueue needy(10, {10, 5}, OverflowPolicy::drop_oldest);
    needy.queue.retire(*needy.producers[1]);
    Pusher retired{needy.queue, needy.producers[1]};
    retired.push(numbers(0, 100));
    CHECK(retired.lost.size() == 99);
}
