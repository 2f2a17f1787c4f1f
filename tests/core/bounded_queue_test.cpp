#include "core/bounded_queue.hpp"

#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <deque>
#include <random>
#include <thread>
#include <vector>

using namespace telegate;
using telegate::test::eventually;

namespace {

constexpr auto no_loss = [](const auto&, QueueLoss) {
};

std::vector<int> numbers(int first, int count) {
    std::vector<int> items(static_cast<std::size_t>(count));
    for (int index = 0; index < count; ++index) {
        items[static_cast<std::size_t>(index)] = first + index;
    }
    return items;
}

template <class T>
std::vector<T> pop_up_to(BoundedQueue<T>& queue, std::size_t count) {
    std::vector<T> out(count);
    out.resize(queue.pop(out));
    return out;
}

/// Pushes and remembers what was lost.
struct Pusher {
    BoundedQueue<int>& queue;
    std::vector<int> lost{};
    std::vector<QueueLoss> losses{};

    void push(const std::vector<int>& items) {
        queue.push(std::span<const int>(items), [this](int item, QueueLoss loss) {
            lost.push_back(item);
            losses.push_back(loss);
        });
    }
};

}  // namespace

TEST_CASE("items come out in the order they went in, singly or in bulk", "[core][queue]") {
    BoundedQueue<int> queue(100);
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
    BoundedQueue<int> queue(static_cast<std::size_t>(capacity), OverflowPolicy::drop_oldest);
    Pusher pusher{queue};
    pusher.push(numbers(0, 250));
    CHECK(pusher.lost == numbers(0, 250 - capacity));
    CHECK(pusher.losses == std::vector(pusher.lost.size(), QueueLoss::evicted));
    CHECK(pop_up_to(queue, 1'000) == numbers(250 - capacity, capacity));
}

TEST_CASE("drop_newest refuses what does not fit", "[core][queue]") {
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

TEST_CASE("resize loses nothing, and none enters without one leaving until the consumer has caught up",
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

TEST_CASE("a larger capacity takes effect at once", "[core][queue]") {
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

namespace {

/// The queue's rules, item by item and in plain containers.
struct Model {
    std::size_t capacity;
    OverflowPolicy policy;
    std::deque<int> held{};
    std::vector<int> lost{};
    std::size_t high_water = 0;

    void push(int item) {
        if (held.size() < capacity) {
            held.push_back(item);
            high_water = std::max(high_water, held.size());
        } else if (policy == OverflowPolicy::drop_newest) {
            lost.push_back(item);
        } else {
            lost.push_back(held.front());
            held.pop_front();
            held.push_back(item);
        }
    }
    std::vector<int> pop(std::size_t count) {
        const auto end = held.begin() + static_cast<std::ptrdiff_t>(std::min(count, held.size()));
        std::vector<int> out(held.begin(), end);
        held.erase(held.begin(), end);
        return out;
    }
};

/// Does the same random thing to the queue and to the model; every difference is a failed check.
class Comparison {
  public:
    explicit Comparison(std::uint64_t seed) : random_(seed) {}

    void step() {
        switch (below(8)) {
            case 0: resize(1 + below(60)); break;
            case 1: set_policy(below(2) == 0 ? OverflowPolicy::drop_oldest : OverflowPolicy::drop_newest); break;
            case 2:
            case 3:
            case 4: pop(below(40)); break;
            default: push(static_cast<int>(below(80))); break;
        }
        REQUIRE(queue_.size() == model_.held.size());
        REQUIRE(queue_.high_water() == model_.high_water);
        REQUIRE(queue_.lost() == model_.lost.size());
        REQUIRE(pusher_.lost == model_.lost);
    }

  private:
    std::size_t below(std::size_t bound) { return static_cast<std::size_t>(random_() % bound); }

    void resize(std::size_t capacity) {
        queue_.resize(capacity);
        model_.capacity = capacity;
    }
    void set_policy(OverflowPolicy policy) {
        queue_.set_policy(policy);
        model_.policy = policy;
    }
    void pop(std::size_t count) { REQUIRE(pop_up_to(queue_, count) == model_.pop(count)); }
    void push(int count) {
        pusher_.push(numbers(next_, count));
        for (int index = 0; index < count; ++index) {
            model_.push(next_++);
        }
    }

    std::mt19937_64 random_;
    BoundedQueue<int> queue_{10};
    Pusher pusher_{queue_};
    Model model_{10, OverflowPolicy::drop_oldest};
    int next_ = 0;
};

}  // namespace

TEST_CASE("any sequence of pushes, pops and resizes does what the plain model does", "[core][queue]") {
    const std::uint64_t seed = GENERATE(range<std::uint64_t>(1, 21));
    CAPTURE(seed);
    Comparison comparison(seed);
    for (int count = 0; count < 500; ++count) {
        comparison.step();
    }
}

TEST_CASE("with policy block a producer waits for room and loses nothing", "[core][queue]") {
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

TEST_CASE("close wakes a producer that waits for room, and its item counts as lost", "[core][queue]") {
    BoundedQueue<int> queue(1, OverflowPolicy::block);
    Pusher pusher{queue};
    std::thread producer([&] { pusher.push({1, 2, 3}); });
    CHECK(eventually([&] { return queue.size() == 1; }));
    queue.close();
    producer.join();
    CHECK(pusher.lost == std::vector{2, 3});
    CHECK(pusher.losses == std::vector(2, QueueLoss::closed));
}

TEST_CASE("more capacity wakes a producer that waits for room", "[core][queue]") {
    BoundedQueue<int> queue(1, OverflowPolicy::block);
    Pusher pusher{queue};
    std::thread producer([&] { pusher.push({1, 2, 3}); });
    CHECK(eventually([&] { return queue.size() == 1; }));
    queue.resize(3);
    producer.join();
    CHECK(pusher.lost.empty());
    CHECK(queue.size() == 3);
}

TEST_CASE("another policy wakes a producer that waits for room", "[core][queue]") {
    BoundedQueue<int> queue(1, OverflowPolicy::block);
    Pusher pusher{queue};
    std::thread producer([&] { pusher.push({1, 2, 3}); });
    CHECK(eventually([&] { return queue.size() == 1; }));
    queue.set_policy(OverflowPolicy::drop_newest);
    producer.join();
    CHECK(pusher.lost == std::vector{2, 3});
}

namespace {

struct Tagged {
    int producer;
    int number;
};

constexpr int producers = 3;
constexpr int items_per_producer = 6'000;

/// Several producers against one consumer and one watcher. What the threads see is judged after they have ended.
class Contest {
  public:
    Contest(std::size_t capacity, OverflowPolicy policy) : queue(capacity, policy) {}

    void run() {
        std::atomic<int> producing{producers};
        std::thread watcher([&] { watch(producing); });
        std::vector<std::thread> threads;
        for (int producer = 0; producer < producers; ++producer) {
            threads.emplace_back([this, producer, &producing] {
                produce(producer);
                producing.fetch_sub(1);
            });
        }
        while (producing.load() > 0 || queue.size() > 0) {
            consume();
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
        watcher.join();
    }

    BoundedQueue<Tagged> queue;
    std::size_t size_max = 0;
    std::vector<Tagged> popped;
    std::array<std::vector<Tagged>, producers> lost;

  private:
    void watch(const std::atomic<int>& producing) {
        while (producing.load() > 0) {
            size_max = std::max(size_max, queue.size());
        }
    }

    void produce(int producer) {
        const auto on_loss = [&](const Tagged& item, QueueLoss) {
            lost[static_cast<std::size_t>(producer)].push_back(item);
        };
        for (int number = 0; number < items_per_producer;) {
            std::vector<Tagged> bulk;
            for (int left = 1 + number % 50; left > 0 && number < items_per_producer; --left) {
                bulk.push_back({producer, number++});
            }
            queue.push(std::span<const Tagged>(bulk), on_loss);
        }
    }

    void consume() {
        const auto some = pop_up_to(queue, 1 + popped.size() % 40);
        popped.insert(popped.end(), some.begin(), some.end());
        if (some.empty()) {
            std::this_thread::yield();
        }
    }
};

bool numbers_rise_per_producer(const std::vector<Tagged>& items) {
    std::array<int, producers> last;
    last.fill(-1);
    for (const Tagged& item : items) {
        int& before = last[static_cast<std::size_t>(item.producer)];
        if (item.number <= before) {
            return false;
        }
        before = item.number;
    }
    return true;
}

/// How often each item turned up, popped or lost.
std::vector<int> appearances(const Contest& contest) {
    std::vector<int> count(producers * items_per_producer);
    const auto note = [&count](const Tagged& item) {
        ++count[static_cast<std::size_t>(item.producer * items_per_producer + item.number)];
    };
    std::for_each(contest.popped.begin(), contest.popped.end(), note);
    for (const auto& lost : contest.lost) {
        std::for_each(lost.begin(), lost.end(), note);
    }
    return count;
}

std::size_t lost_total(const Contest& contest) {
    std::size_t total = 0;
    for (const auto& lost : contest.lost) {
        total += lost.size();
    }
    return total;
}

}  // namespace

TEST_CASE("under several producers the queue never exceeds its capacity and each item is popped or lost exactly once",
          "[core][queue]") {
    const auto policy = GENERATE(OverflowPolicy::drop_oldest, OverflowPolicy::drop_newest, OverflowPolicy::block);
    const std::size_t capacity = GENERATE(std::size_t{1}, std::size_t{7}, std::size_t{64});
    CAPTURE(to_string(policy), capacity);
    Contest contest(capacity, policy);
    contest.run();
    CHECK(contest.size_max <= capacity);
    CHECK(contest.queue.high_water() <= capacity);
    CHECK(contest.queue.size() == 0);
    CHECK(contest.queue.lost() == lost_total(contest));
    CHECK(appearances(contest) == std::vector(producers * items_per_producer, 1));
    CHECK(numbers_rise_per_producer(contest.popped));
    CHECK((policy != OverflowPolicy::block || lost_total(contest) == 0));
}
