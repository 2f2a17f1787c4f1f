#include "core/waker.hpp"

#include "core/bounded_queue.hpp"
#include "support/catch.hpp"

#include <poll.h>

#include <array>
#include <chrono>
#include <thread>
#include <vector>

using namespace telegate;
using namespace std::chrono_literals;

namespace {

bool is_readable(int descriptor, int wait_ms = 0) {
    pollfd entry{descriptor, POLLIN, 0};
    return ::poll(&entry, 1, wait_ms) == 1;
}

bool is_awake(const Waker& waker, int wait_ms = 0) {
    return is_readable(waker.descriptor(), wait_ms);
}

}  // namespace

TEST_CASE("a waker is readable from wake to clear", "[core][waker]") {
    Waker waker;
    CHECK_FALSE(is_awake(waker));
    waker.wake();
    CHECK(is_awake(waker));
    waker.clear();
    CHECK_FALSE(is_awake(waker));
}

TEST_CASE("one wake-up is pending, however often the waker is woken", "[core][waker]") {
    Waker waker;
    for (int count = 0; count < 1000; ++count) {
        waker.wake();
    }
    CHECK(waker.signaled() == 1);
    waker.clear();
    CHECK_FALSE(is_awake(waker));
    waker.wake();
    CHECK(waker.signaled() == 2);
    CHECK(is_awake(waker));
}

TEST_CASE("clearing a waker that was not woken has no effect", "[core][waker]") {
    Waker waker;
    waker.clear();
    CHECK_FALSE(is_awake(waker));
    waker.wake();
    CHECK(is_awake(waker));
}

TEST_CASE("a consumer in low-power mode can still be woken immediately", "[core][waker]") {
    QueueWaker waker;
    CHECK_FALSE(waker.is_low_power());
    waker.begin_low_power(1h);
    CHECK(waker.is_low_power());
    waker.wake_later();
    waker.wake();
    CHECK(is_readable(waker.descriptor()));
    CHECK_FALSE(is_readable(waker.late_descriptor()));
    waker.end_low_power();
    CHECK_FALSE(waker.is_low_power());
}

TEST_CASE("the first item that may wait starts a timer, and the others share it", "[core][waker]") {
    QueueWaker waker;
    waker.begin_low_power(20ms);
    const auto begin = std::chrono::steady_clock::now();
    for (int item = 0; item < 1'000; ++item) {
        waker.wake_later();
    }
    CHECK(waker.timers() == 1);
    CHECK(is_readable(waker.late_descriptor(), 60'000));
    CHECK(std::chrono::steady_clock::now() - begin >= 20ms);
    CHECK(waker.signaled() == 0);
    waker.clear_late();
    CHECK_FALSE(is_readable(waker.late_descriptor()));
    waker.wake_later();
    CHECK(waker.timers() == 2);
    CHECK(is_readable(waker.late_descriptor(), 60'000));
}

TEST_CASE("an item that may wait wakes the consumer even if low-power mode ends before its timer starts",
          "[core][waker]") {
    QueueWaker waker;
    waker.begin_low_power(1h);
    waker.end_low_power();
    waker.wake_later();
    CHECK(is_readable(waker.late_descriptor(), 60'000));
}

TEST_CASE("no item is left behind when producers wake the consumer once per item", "[core][waker][thread]") {
    constexpr int items_each = 20'000;
    BoundedQueue<int> queue(64, OverflowPolicy::block);
    Waker waker;
    std::vector<std::thread> producers;
    for (int producer = 0; producer < 3; ++producer) {
        auto& way_in = queue.add_producer();
        queue.enroll(way_in);
        producers.emplace_back([&] {
            for (int item = 0; item < items_each; ++item) {
                queue.push(way_in, item, [](int, QueueLoss) {});
                waker.wake();
            }
        });
    }
    std::array<int, 16> batch{};
    std::size_t taken = 0;
    bool woken = true;
    while (taken < 3 * items_each && woken) {
        woken = is_awake(waker, 60'000);  // a lost wake-up would time out here
        waker.clear();
        while (const std::size_t count = queue.pop(batch)) {
            taken += count;
        }
    }
    queue.close();
    for (std::thread& producer : producers) {
        producer.join();
    }
    CHECK(taken == 3 * items_each);
    CHECK(waker.signaled() <= 3 * items_each);
}
