#include "base/call_on_reactor.hpp"

#include "support/catch.hpp"

#include <stdexcept>
#include <thread>

using namespace telegate;
using namespace std::chrono_literals;

namespace {

/// A reactor on its own thread.
struct ReactorThread {
    ~ReactorThread() {
        reactor.stop();
        thread.join();
    }
    Reactor reactor;
    std::thread thread{[this] {
        reactor.run();
    }};
};

}  // namespace

TEST_CASE("a call runs on the reactor's thread, and the caller waits for it", "[gateway][call_on_reactor]") {
    ReactorThread other;
    std::thread::id made_on;
    CHECK(call_on_reactor(
        other.reactor, [&] { made_on = std::this_thread::get_id(); }, 60s));
    CHECK(made_on == other.thread.get_id());
}

TEST_CASE("an exception of the call is rethrown to the caller", "[gateway][call_on_reactor]") {
    ReactorThread other;
    CHECK_THROWS_WITH(call_on_reactor(
                          other.reactor, [] { throw std::runtime_error("taken"); }, 60s),
                      "taken");
}

TEST_CASE("a call that the reactor does not start in time never runs", "[gateway][call_on_reactor]") {
    Reactor reactor;
    bool made = false;
    CHECK_FALSE(call_on_reactor(
        reactor, [&] { made = true; }, 1ms));
    reactor.poll();
    CHECK_FALSE(made);
}
