// The queue between threads. The observations of the threads are checked after they have ended.
#include "core/bounded_queue.hpp"
#include "core/queue/bounded_queue_pusher.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <random>
#include <thread>
#include <vector>

using namespace telegate;
using namespace telegate::test;

namespace {

struct Tagged {
    int producer;
    int number;
};

/// Items of each producer. Fewer for a small queue, where nearly every item costs a thread switch, which a busy machine
/// delays.
int items_through(std::size_t capacity) {
    constexpr std::size_t small = 10;
    return capacity < small ? 600 : 6'000;
}

/// Producers, one consumer, a thread that watches the size, and optionally a thread that changes settings.
class Contest {
  public:
    Contest(std::size_t capacity, OverflowPolicy policy, std::size_t threads)
        : queue(capacity, policy),
          producers(threads),
          items_per_producer(items_through(capacity)),
          ways_in{&queue.first()},
          lost(threads) {
        while (ways_in.size() < threads) {
            ways_in.push_back(&queue.add_producer());
            queue.enroll(*ways_in.back());
        }
    }

    void run(const std::function<void(BoundedQueue<Tagged>&)>& meddle = {}) {
        std::atomic<std::size_t> producing{producers};
        std::vector<std::thread> threads;
        threads.emplace_back([&] { watch(producing); });
        threads.emplace_back([&] {
            while (meddle && producing.load() > 0) {
                meddle(queue);
            }
        });
        for (std::size_t producer = 0; producer < producers; ++producer) {
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
    }

    BoundedQueue<Tagged> queue;
    std::size_t producers;
    int items_per_producer;
    std::vector<BoundedQueue<Tagged>::Producer*> ways_in;
    std::size_t size_max = 0;
    std::vector<Tagged> popped;
    std::vector<std::vector<Tagged>> lost;  // as reported to each producer

  private:
    void watch(const std::atomic<std::size_t>& producing) {
        while (producing.load() > 0) {
            size_max = std::max(size_max, queue.size());
        }
    }

    void produce(std::size_t producer) {
        const auto on_loss = [&](const Tagged& item, QueueLoss) {
            lost[producer].push_back(item);
        };
        for (int number = 0; number < items_per_producer;) {
            std::vector<Tagged> bulk;
            for (int left = 1 + number % 50; left > 0 && number < items_per_producer; --left) {
                bulk.push_back({static_cast<int>(producer), number++});
            }
            queue.push(*ways_in[producer], std::span<const Tagged>(bulk), on_loss);
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

bool numbers_rise_per_producer(const std::vector<Tagged>& items, std::size_t producers) {
    std::vector<int> last(producers, -1);
    for (const Tagged& item : items) {
        int& before = last[static_cast<std::size_t>(item.producer)];
        if (item.number <= before) {
            return false;
        }
        before = item.number;
    }
    return true;
}

/// Returns how often each item appeared, popped or lost.
std::vector<int> appearances(const Contest& contest) {
    std::vector<int> count(contest.producers * static_cast<std::size_t>(contest.items_per_producer));
    const auto note = [&](const Tagged& item) {
        ++count[static_cast<std::size_t>(item.producer * contest.items_per_producer + item.number)];
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

/// Each producer has capacity for one item.
std::size_t size_limit(const Contest& contest, std::size_t capacity) {
    return std::max(capacity, contest.producers);
}

void check_ledger(const Contest& contest, std::size_t capacity_max) {
    CHECK(contest.size_max <= size_limit(contest, capacity_max));
    CHECK(contest.queue.high_water() <= capacity_max);
    CHECK(contest.queue.size() == 0);
    CHECK(contest.queue.lost() == lost_total(contest));
    const std::vector<int> count = appearances(contest);
    CHECK(count == std::vector(count.size(), 1));
    CHECK(numbers_rise_per_producer(contest.popped, contest.producers));
}

}  // namespace

TEST_CASE("between threads the queue never exceeds its capacity, and each item is popped or lost exactly once",
          "[core][queue]") {
    const std::size_t producers = GENERATE(std::size_t{1}, std::size_t{3});
    const auto policy = GENERATE(OverflowPolicy::drop_oldest, OverflowPolicy::drop_newest, OverflowPolicy::block);
    const std::size_t capacity = GENERATE(std::size_t{1}, std::size_t{7}, std::size_t{64}, std::size_t{600});
    CAPTURE(producers, to_string(policy), capacity);
    Contest contest(capacity, policy, producers);
    contest.run();
    check_ledger(contest, capacity);
    CHECK((policy != OverflowPolicy::block || lost_total(contest) == 0));
}

TEST_CASE("losses are reported to a producer in order, whichever side takes the oldest items", "[core][queue]") {
    const std::size_t capacity = GENERATE(std::size_t{1}, std::size_t{40});
    Contest contest(capacity, OverflowPolicy::drop_oldest, 1);
    contest.run();
    CHECK(numbers_rise_per_producer(contest.lost[0], 1));
}

TEST_CASE("resizing loses no item, and the size stays within the largest capacity", "[core][queue]") {
    const std::size_t producers = GENERATE(std::size_t{1}, std::size_t{3});
    CAPTURE(producers);
    constexpr std::size_t capacity_max = 700;
    Contest contest(capacity_max, OverflowPolicy::block, producers);
    std::mt19937 random(1);
    contest.run([&random](BoundedQueue<Tagged>& queue) { queue.resize(1 + random() % capacity_max); });
    check_ledger(contest, capacity_max);
    CHECK(lost_total(contest) == 0);
}

TEST_CASE("every item is accounted for while another thread changes capacity and policy", "[core][queue]") {
    const std::size_t producers = GENERATE(std::size_t{1}, std::size_t{3});
    CAPTURE(producers);
    constexpr std::size_t capacity_max = 90;
    Contest contest(capacity_max, OverflowPolicy::drop_oldest, producers);
    std::mt19937 random(1);
    contest.run([&random](BoundedQueue<Tagged>& queue) {
        queue.resize(1 + random() % capacity_max);
        queue.set_policy(static_cast<OverflowPolicy>(random() % 3));
        std::this_thread::yield();
    });
    check_ledger(contest, capacity_max);
}

TEST_CASE("items pushed before a close are popped, items pushed after it are lost", "[core][queue]") {
    const std::size_t producers = GENERATE(std::size_t{1}, std::size_t{3});
    const auto policy = GENERATE(OverflowPolicy::drop_oldest, OverflowPolicy::drop_newest, OverflowPolicy::block);
    CAPTURE(producers, to_string(policy));
    Contest contest(20, policy, producers);
    contest.run([](BoundedQueue<Tagged>& queue) {
        if (queue.high_water() == 20) {
            queue.close();
        }
    });
    check_ledger(contest, 20);
}
