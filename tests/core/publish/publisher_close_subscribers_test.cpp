#include "core/publish/published.hpp"
#include "support/catch.hpp"
#include "support/publisher_harness.hpp"

#include <string>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// A publisher at two endpoints. Each has one subscriber to everything.
struct TwoEndpoints : PublisherHarness {
    explicit TwoEndpoints(std::size_t io_threads) : PublisherHarness(options(io_threads)) {}

    static PublisherOptions options(std::size_t io_threads) {
        PublisherOptions options;
        options.io_threads = io_threads;
        options.heartbeat_interval = 200ms;  // so that deadlines are checked often
        return options;
    }
    /// Sets the endpoint that the harness connects to from now on.
    void use(const Endpoint& at) { endpoint = at; }
    /// Waits until `left` subscribers remain and the end of the other one was reported, which other threads do
    /// separately.
    bool one_leaves(std::size_t left) {
        return turn_until([&] { return publisher->subscribers().size() == left && departures.size() == 1; });
    }
    bool reads(RawPeer& peer, const std::string& bytes) {
        return turn_until([&] { return peer.read() == publisher_hello() + bytes; });
    }

    const Endpoint first = endpoint;
    const Endpoint second = publisher->bind(Endpoint{Transport::tcp, "127.0.0.1", 0, ""});
};

}  // namespace

TEST_CASE("closing the subscribers of one endpoint delivers pending messages and leaves other subscribers connected",
          "[core][publisher][close]") {
    const auto io_threads = GENERATE(values<std::size_t>({1, 3}));
    TwoEndpoints h(io_threads);
    RawPeer leaving = h.subscriber();
    h.use(h.second);
    RawPeer staying = h.subscriber();
    h.commit("t", "for both");
    REQUIRE(h.publisher->unbind(h.first));
    h.publisher->close_subscribers(h.first, 60s);
    h.publish("t", "for one");
    CHECK(h.is_cut(leaving));
    CHECK(leaving.received() == publisher_hello() + message("t", "for both"));
    leaving.close();
    CHECK(h.one_leaves(1));
    CHECK(h.reads(staying, message("t", "for both") + message("t", "for one")));
    CHECK(h.totals().dropped == 0);
    CHECK(adds_up(h.totals()));
    CHECK(h.reason() == "shutdown");
}

TEST_CASE("a subscriber that does not read is closed after the grace period", "[core][publisher][close]") {
    const auto io_threads = GENERATE(values<std::size_t>({1, 3}));
    TwoEndpoints h(io_threads);
    const RawPeer leaving = h.subscriber({""}, 4096);
    h.publish("large", sixteen_megabytes);
    h.publisher->close_subscribers(h.first, 1ms);
    CHECK(h.one_leaves(0));
    CHECK(h.reason() == "did not read in time");
    CHECK(h.totals().dropped == 1);
    CHECK(adds_up(h.totals()));
}

TEST_CASE("a new connection to the same endpoint is served", "[core][publisher][close]") {
    TwoEndpoints h(1);
    RawPeer leaving = h.subscriber();
    h.publisher->close_subscribers(h.first, 60s);
    CHECK(h.is_cut(leaving));
    CHECK(h.serves());
}

TEST_CASE("a subscription sent by a subscriber that is being closed is ignored", "[core][publisher][close]") {
    TwoEndpoints h(1);
    RawPeer leaving = h.subscriber({"a"});
    h.publisher->close_subscribers(h.first, 60s);
    leaving.send(subscribe("b"));
    h.publish("a", "x");
    h.publish("b", "x");
    CHECK(h.is_cut(leaving));
    CHECK(leaving.received() == publisher_hello());
    CHECK_FALSE(h.publisher->has_subscriptions());
}
