#include "support/catch.hpp"

#include "core/reactor.hpp"
#include "reactor/busy_polls.hpp"

#include <chrono>
#include <functional>

using namespace telegate;
using namespace std::chrono_literals;

namespace {

class Polled : public BusyPolled {
  public:
    bool poll() noexcept override {
        ++polls;
        return has_come;
    }
    void found() override {
        ++founds;
        on_found();
    }
    void not_found() override { ++not_founds; }

    bool has_come = false;
    std::function<void()> on_found = [] {
    };
    int polls = 0;
    int founds = 0;
    int not_founds = 0;
};

}  // namespace

TEST_CASE("an event loop polls several times before it calls not_found", "[core][busy_polls]") {
    Reactor reactor;
    Polled polled;
    reactor.busy_polls().add(polled);
    CHECK_FALSE(reactor.run_for(1ms));
    CHECK(polled.polls > 1);
    CHECK(polled.founds == 0);
    CHECK(polled.not_founds == 1);
    CHECK(reactor.busy_polls().empty());
}

TEST_CASE("an event loop calls found once, and stops polling", "[core][busy_polls]") {
    Reactor reactor;
    Polled polled;
    polled.has_come = true;
    reactor.busy_polls().add(polled);
    CHECK(reactor.run_for(1h));
    CHECK(polled.founds == 1);
    CHECK(polled.not_founds == 0);
    CHECK(reactor.busy_polls().empty());
}

TEST_CASE("poll() polls once without waiting, and again the next time", "[core][busy_polls]") {
    Reactor reactor;
    Polled polled;
    reactor.busy_polls().add(polled);
    reactor.poll();
    CHECK(polled.polls == 1);
    polled.has_come = true;
    reactor.poll();
    CHECK(polled.founds == 1);
    CHECK(polled.not_founds == 0);
}

TEST_CASE("posted calls run before a busy wait", "[core][busy_polls]") {
    Reactor reactor;
    Polled polled;
    bool is_called = false;
    reactor.busy_polls().add(polled);
    reactor.post([&] { is_called = true; });
    CHECK(reactor.run_for(1h));
    CHECK(is_called);
    CHECK(polled.not_founds == 0);
    reactor.busy_polls().remove(polled);
}

TEST_CASE("two objects that are always found are found once per iteration", "[core][busy_polls]") {
    Reactor reactor;
    Polled one;
    Polled other;
    for (Polled* polled : {&one, &other}) {
        polled->has_come = true;
        polled->on_found = [&reactor, polled] {
            reactor.busy_polls().add(*polled);
        };
        reactor.busy_polls().add(*polled);
    }
    for (int turn = 0; turn < 10; ++turn) {
        CHECK(reactor.run_for(1h));
    }
    CHECK(one.founds == 10);
    CHECK(other.founds == 10);
    reactor.busy_polls().remove(one);
    reactor.busy_polls().remove(other);
}

TEST_CASE("an object removed while another is found is no longer polled", "[core][busy_polls]") {
    Reactor reactor;
    Polled stays;
    Polled goes;
    stays.has_come = true;
    stays.on_found = [&] {
        reactor.busy_polls().remove(goes);
    };
    reactor.busy_polls().add(stays);
    reactor.busy_polls().add(goes);
    reactor.poll();
    reactor.poll();
    CHECK(stays.founds == 1);
    CHECK(goes.polls == 0);
}

TEST_CASE("run() calls found, and returns after stop", "[core][busy_polls]") {
    Reactor reactor;
    Polled polled;
    polled.has_come = true;
    polled.on_found = [&] {
        reactor.stop();
    };
    reactor.busy_polls().add(polled);
    reactor.run();
    CHECK(polled.founds == 1);
}
