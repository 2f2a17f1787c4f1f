#include "base/timer_thread.hpp"

#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <atomic>
#include <chrono>
#include <new>

using namespace telegate;

TEST_CASE("a timer calls its function when due, and again at the time that it returns", "[gateway][timer]") {
    std::atomic<int> calls{0};
    TimerThread timer("tg-test", [&] { return ++calls < 3 ? MonoTime::min() : MonoTime::max(); });
    timer.start();
    timer.call_at(SystemClock().mono_now() + std::chrono::hours(1));
    timer.call_at(SystemClock().mono_now());
    CHECK(test::eventually([&] { return calls == 3; }));
    timer.stop();
    CHECK(calls == 3);
}

TEST_CASE("a timer that was stopped or not started calls nothing", "[gateway][timer]") {
    std::atomic<int> calls{0};
    TimerThread timer("tg-test", [&] {
        ++calls;
        return MonoTime::max();
    });
    timer.call_at(MonoTime::min());
    timer.stop();
    timer.start();
    timer.call_at(MonoTime::min());
    timer.stop();
    CHECK(calls == 0);
}
