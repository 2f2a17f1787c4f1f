#include "support/catch.hpp"
#include "support/publisher_harness.hpp"

using namespace telegate;
using namespace telegate::test;

namespace {

std::string all_but_hello(const RawPeer& peer) {
    return peer.received().substr(std::min(publisher_hello().size(), peer.received().size()));
}

}  // namespace

TEST_CASE("a topic without a subscriber is not wanted, and skipping it is counted", "[core][publisher]") {
    PublisherHarness h;
    const RawPeer peer = h.subscriber({"other"});
    CHECK_FALSE(h.publisher->wanted(h.publisher->intern("t")));
    h.publisher->skip();
    h.publisher->flush();
    CHECK(h.totals().messages == 1);
    CHECK(h.totals().matched == 0);
    CHECK(h.last_status().backlog_bytes == 0);
}

TEST_CASE("a topic is wanted from its subscription until the subscriber disconnects", "[core][publisher]") {
    PublisherHarness h;
    const TopicId topic = h.publisher->intern("t");
    CHECK_FALSE(h.publisher->wanted(topic));
    RawPeer peer = h.subscriber({"t"});
    CHECK(h.publisher->wanted(topic));
    peer.close();
    CHECK(h.turn_until([&] { return !h.publisher->wanted(topic); }));
}

TEST_CASE("a topic keeps its id", "[core][publisher]") {
    PublisherHarness h;
    const TopicId first = h.publisher->intern("first");
    CHECK(h.publisher->intern("second") != first);
    CHECK(h.publisher->intern("first") == first);
}

TEST_CASE("a topic in the payload is not sent as a separate frame", "[core][publisher]") {
    PublisherHarness h;
    RawPeer peer = h.subscriber({"key"});
    const TopicId topic = h.publisher->intern("key=", TopicPlace::in_payload);
    CHECK(topic != h.publisher->intern("key="));
    CHECK(topic == h.publisher->intern("key=", TopicPlace::in_payload));
    CHECK_FALSE(h.publisher->wanted(h.publisher->intern("other=", TopicPlace::in_payload)));
    CHECK(h.publisher->wanted(topic));
    const std::string longest = "key=" + std::string(70'000, 'v');
    std::string expected = publisher_hello();
    for (const std::string& payload : {std::string("key=1"), longest, std::string("key=")}) {
        h.publisher->send(topic, payload);
        h.publish("key=", "2");
        char* const room = h.publisher->prepare(topic, payload.size() + 300);
        std::copy(payload.begin(), payload.end(), room);
        h.publisher->commit(payload.size());
        expected += frame(0, payload) + message("key=", "2") + frame(0, payload);
    }
    h.publisher->flush();
    CHECK(h.turn_until([&] { return peer.read().size() >= expected.size(); }));
    CHECK(peer.received() == expected);
}

TEST_CASE("a topic in the payload is wanted until the subscriber disconnects", "[core][publisher]") {
    PublisherHarness h;
    const TopicId everything = h.publisher->intern("", TopicPlace::in_payload);
    RawPeer peer = h.subscriber({""});
    CHECK(h.publisher->wanted(everything));
    peer.close();
    CHECK(h.turn_until([&] { return !h.publisher->wanted(everything); }));
}

TEST_CASE("every message arrives byte for byte, whatever its size and the space prepared for it", "[core][publisher]") {
    const std::size_t size = GENERATE(0U, 1U, 254U, 255U, 256U, 257U, 70'000U, 300'000U);
    const std::size_t spare = GENERATE(0U, 1U, 300U);
    CAPTURE(size, spare);
    std::string payload(size, '\0');
    for (std::size_t i = 0; i < size; ++i) {
        payload[i] = static_cast<char>(i * 31);
    }
    PublisherHarness h;
    RawPeer peer = h.subscriber();
    for (const char* topic : {"before", "after"}) {
        char* room = h.publisher->prepare(h.publisher->intern(topic), size + spare);
        std::fill_n(room, size + spare, '#');
        std::copy(payload.begin(), payload.end(), room);
        h.publisher->commit(size);
    }
    h.publisher->flush();
    const std::string expected = publisher_hello() + message("before", payload) + message("after", payload);
    CHECK(h.turn_until([&] { return peer.read().size() >= expected.size(); }));
    CHECK(peer.received() == expected);
}

TEST_CASE("a batch is sent when it is flushed, not before", "[core][publisher]") {
    PublisherHarness h;
    RawPeer peer = h.subscriber();
    std::string expected = publisher_hello();
    for (int number = 0; number < 100; ++number) {
        h.commit("t", std::to_string(number));
        expected += message("t", std::to_string(number));
    }
    h.turn();
    CHECK(h.last_status().pending == 100);
    CHECK(peer.read() == publisher_hello());
    h.publisher->flush();
    CHECK(h.last_status().sent == 100);
    CHECK(h.turn_until([&] { return peer.read() == expected; }));
}

TEST_CASE("a PING is answered by a PONG with the same context", "[core][publisher][heartbeat]") {
    const unsigned minor = GENERATE(0U, 1U);
    const std::string context = GENERATE(as<std::string>(), "", "c", std::string("\0\1\2\xFF", 4), "sixteen bytes ok");
    CAPTURE(minor, context);
    PublisherHarness h;
    RawPeer peer = h.connect();
    peer.send(greeting(minor) + ready("SUB") + ping(context, 30));
    CHECK(h.turn_until([&] { return peer.read() == publisher_hello() + pong(context); }));
}

TEST_CASE("a PONG is never sent inside a message that is partly sent", "[core][publisher][heartbeat]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    PublisherOptions options;
    options.backlog_bytes_max = 64 * 1024;
    PublisherHarness h(options, transport);
    RawPeer peer = h.subscriber({""}, 4096);
    const std::string large(16 * 1024 * 1024, 'x');
    h.publish("large", large);
    REQUIRE(h.last_status().pending == 1);
    REQUIRE(h.last_status().backlog_bytes < message("large", large).size());

    const bool is_given_up = GENERATE(false, true);
    h.commit("next", "1");
    if (is_given_up) {
        h.commit("next", std::string(100'000, '2'));  // opens a segment, and the large one is over the limit
        REQUIRE(h.last_status().dropped == 1);
    }
    h.publisher->flush();
    peer.send(ping("a") + ping("b"));
    h.turn();
    const std::string next = is_given_up ? std::string(100'000, '2') : "1";
    const std::string expected = message("large", large) + pong("a") + pong("b") + message("next", next);
    REQUIRE(h.turn_until([&] { return peer.read().size() >= publisher_hello().size() + expected.size(); }));
    CHECK(all_but_hello(peer) == expected);
}

TEST_CASE("the status of a subscriber has its address, its endpoint and its prefixes", "[core][publisher][status]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    PublisherHarness h({}, transport);
    const RawPeer peer = h.subscriber({"b", "a"});
    const PeerStatus status = h.last_status();
    CHECK(status.id == 1);
    CHECK(status.endpoint == to_string(h.endpoint));
    CHECK(status.peer.starts_with(transport == Transport::tcp ? "127.0.0.1:"
                                                              : "pid=" + std::to_string(::getpid()) + " uid="));
    CHECK(status.subscriptions == std::vector<std::string>{"a", "b"});
    CHECK(status.subscriptions_count == 2);
    CHECK(h.arrivals.size() == 1);
}

TEST_CASE("totals include subscribers that have disconnected", "[core][publisher][status]") {
    PublisherHarness h;
    {
        const RawPeer peer = h.subscriber();
        h.publish("t", "1");
        h.publish("t", "2");
    }
    CHECK(h.turn_until([&] { return h.departures.size() == 1; }));
    const RawPeer other = h.subscriber();
    h.publish("t", "3");
    CHECK(h.departures[0].sent == 2);
    CHECK(h.last_status().id == 2);
    CHECK(h.totals().messages == 3);
    CHECK(h.totals().connections_accepted == 2);
    CHECK(h.totals().matched == 3);
    CHECK(h.totals().sent == 3);
}

TEST_CASE("a publisher may be destroyed while subscribers are connected, and the reactor after it",
          "[core][publisher]") {
    PublisherHarness h;
    RawPeer peer = h.subscriber({""}, 4096);
    const RawPeer silent = h.connect();
    REQUIRE(h.turn_until([&] { return h.totals().connections_accepted == 2; }));
    h.publish("t", std::string(16 * 1024 * 1024, 'x'));
    REQUIRE(h.last_status().pending == 1);
    h.commit("t", "not flushed");
    h.publisher.reset();
    CHECK(h.departures.empty());  // no monitor is left to notify
    const bool turns_on = GENERATE(true, false);
    if (turns_on) {
        h.turn();
    }
}
