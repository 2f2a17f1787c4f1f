#include "core/publish/published.hpp"
#include "support/catch.hpp"
#include "support/publisher_harness.hpp"

#include <string>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;

namespace {

/// A publisher at two endpoints, with one subscriber of everything at each.
struct TwoEndpoints : PublisherHarness {
    explicit TwoEndpoints(std::size_t io_threads) : PublisherHarness(options(io_threads)) {}

    static PublisherOptions options(std::size_t io_threads) {
        PublisherOptions options;
        options.io_threads = io_threads;
        options.heartbeat_interval = 200ms;  // so that deadlines are looked at often
        return options;
    }
    /// What the harness connects to from here on.
    void use(const Endpoint& at) { endpoint = at; }
    /// Until `left` subscribers are there and the end of the one that left was told, which other threads do apart.
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

TEST_CASE("closing the subscribers of one endpoint delivers what is pending and leaves others alone",
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

TEST_CASE("a subscriber that does not read is cut after the grace", "[core][publisher][close]") {
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

TEST_CASE("who comes in at the same endpoint afterwards is served", "[core][publisher][close]") {
    TwoEndpoints h(1);
    RawPeer leaving = h.subscriber();
    h.publisher->close_subscribers(h.first, 60s);
    CHECK(h.is_cut(leaving));
    CHECK(h.serves());
}

TEST_CASE("what a leaving subscriber still asks for is not given", "[core][publisher][close]") {
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
