#include "base/worker.hpp"

#include "support/catch.hpp"
#include "support/eventually.hpp"

#include <atomic>
#include <chrono>
#include <new>

using namespace telegate;

TEST_CASE("a worker calls its function when due, and again at the time that it returns", "[gateway][worker]") {
    std::atomic<int> calls{0};
    Worker worker("tg-test", [&] { return ++calls < 3 ? MonoTime::min() : MonoTime::max(); });
    worker.start();
    worker.call_at(SystemClock().mono_now() + std::chrono::hours(1));
    worker.call_at(SystemClock().mono_now());
    CHECK(test::eventually([&] { return calls == 3; }));
    worker.stop();
    CHECK(calls == 3);
}

TEST_CASE("a worker that was stopped or not started calls nothing", "[gateway][worker]") {
    std::atomic<int> calls{0};
    Worker worker("tg-test", [&] {
        ++calls;
        return MonoTime::max();
    });
    worker.call_at(MonoTime::min());
    worker.stop();
    worker.start();
    worker.call_at(MonoTime::min());
    worker.stop();
    CHECK(calls == 0);
}
