#include "support/catch.hpp"
#include "support/publisher_harness.hpp"
#include "support/socket_harness.hpp"
#include "support/stream_pair.hpp"

#include <cstdint>
#include <optional>
#include <string>

using namespace telegate;
using namespace telegate::test;

TEST_CASE("a message that was sent leaves at the end of the iteration, without a flush", "[core][publisher][send]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc);
    PublisherHarness h({}, transport);
    RawPeer peer = h.subscriber();
    h.publisher->send("t", "one");
    h.publisher->send(h.publisher->intern("t"), "two");
    CHECK(h.last_status().pending == 2);
    h.turn();
    CHECK(h.last_status().sent == 2);
    CHECK(h.turn_until([&] { return peer.read() == publisher_hello() + message("t", "one") + message("t", "two"); }));
}

TEST_CASE("messages sent in consecutive iterations all leave", "[core][publisher][send]") {
    PublisherHarness h;
    RawPeer peer = h.subscriber();
    std::string expected = publisher_hello();
    for (int number = 0; number < 50; ++number) {
        h.publisher->send(number % 2 == 0 ? "even" : "odd", std::to_string(number));
        expected += message(number % 2 == 0 ? "even" : "odd", std::to_string(number));
        h.turn();
        REQUIRE(h.last_status().pending == 0);
    }
    CHECK(h.turn_until([&] { return peer.read() == expected; }));
}

TEST_CASE("a sender that never runs the event loop still writes in large pieces", "[core][publisher][send]") {
    PublisherOptions options;
    options.flush_bytes = 10'000;
    PublisherHarness h(options);
    RawPeer peer = h.subscriber();
    const std::string payload(988, 'x');  // 1,000 bytes with the headers and the topic
    std::uint64_t sent = 0;
    for (std::uint64_t number = 1; number <= 100; ++number) {
        h.publisher->send("topic", payload);
        if (h.last_status().sent != sent) {
            sent = h.last_status().sent;
            CHECK(sent == number);
            CHECK(sent % 10 == 0);
        }
    }
    CHECK(sent == 100);
}

TEST_CASE("a large amount published in one iteration does not wait for its end", "[core][publisher][send]") {
    const Transport transport = GENERATE(Transport::tcp, Transport::ipc, Transport::inproc);
    Bench bench;
    Publisher publisher(bench.reactor, {});
    Subscriber subscriber(bench.reactor, {});
    subscriber.subscribe("t");
    subscriber.connect(publisher.bind(fresh_endpoint(transport, bench.scratch.path())));
    const TopicId topic = publisher.intern("t");
    REQUIRE(bench.turn_until([&] { return publisher.wanted(topic); }));
    const std::size_t message_bytes = limits::short_bytes_in_process + GENERATE(std::size_t{0}, std::size_t{1});
    const bool is_long_in_process = transport == Transport::inproc && message_bytes > limits::short_bytes_in_process;
    const std::size_t flush_bytes = is_long_in_process ? limits::flush_bytes_in_process : limits::flush_bytes;
    const std::string payload(message_bytes - message("t", std::string(300, 'x')).size() + 300, 'x');
    const std::size_t messages = (flush_bytes - 1) / message_bytes;
    for (std::size_t number = 0; number < messages; ++number) {
        publisher.send(topic, payload);
    }
    CHECK(publisher.subscribers().at(0).sent == 0);
    publisher.send(topic, payload);
    CHECK(publisher.subscribers().at(0).sent == messages + 1);
}

TEST_CASE("with a small backlog, a fast subscriber still loses nothing", "[core][publisher][send]") {
    PublisherOptions options;
    options.backlog_bytes_max = 16 * 1024;
    options.segment_bytes = 1024;
    PublisherHarness h(options);
    RawPeer peer = h.subscriber();
    for (int number = 0; number < 500; ++number) {
        h.publisher->send("t", std::string(100, 'x'));
        peer.read();
    }
    CHECK(h.totals().dropped == 0);
}

TEST_CASE("a message without subscribers is counted and not written", "[core][publisher][send]") {
    PublisherHarness h;
    const RawPeer peer = h.subscriber({"other"});
    h.publisher->send("t", "x");
    h.publisher->send("", "");
    CHECK(h.totals().messages == 2);
    CHECK(h.totals().matched == 0);
    CHECK(h.last_status().backlog_bytes == 0);
}

TEST_CASE("an empty topic and an empty payload are a valid message", "[core][publisher][send]") {
    PublisherHarness h;
    RawPeer peer = h.subscriber();
    h.publisher->send("", {});
    CHECK(h.turn_until([&] { return peer.read() == publisher_hello() + message("", ""); }));
}

TEST_CASE("send and commit may be mixed", "[core][publisher][send]") {
    PublisherHarness h;
    RawPeer peer = h.subscriber();
    h.publisher->send("t", "1");
    h.commit("t", "2");
    h.publisher->send("u", "3");
    h.commit("v", "4");
    h.turn();
    const std::string expected = message("t", "1") + message("t", "2") + message("u", "3") + message("v", "4");
    CHECK(h.turn_until([&] { return peer.read() == publisher_hello() + expected; }));
}

TEST_CASE("a subscriber that connects between prepare and commit gets the message, one that disconnects does not",
          "[core][publisher][send]") {
    PublisherHarness h;
    std::optional<RawPeer> leaving(h.subscriber({"t"}));
    const TopicId topic = h.publisher->intern("t");
    char* room = h.publisher->prepare(topic, 1);
    leaving.reset();
    REQUIRE(h.turn_until([&] { return h.departures.size() == 1; }));
    RawPeer coming = h.subscriber({"t"});
    *room = 'x';
    h.publisher->commit(1);
    h.publisher->flush();
    CHECK(h.turn_until([&] { return coming.read() == publisher_hello() + message("t", "x"); }));
    CHECK(h.departures[0].matched == 0);
}

TEST_CASE("space is prepared for a topic with subscribers, and other messages are counted", "[core][publisher][send]") {
    PublisherHarness h;
    std::optional<RawPeer> peer(h.subscriber({"t", "u"}));
    const TopicId unwanted = h.publisher->intern("x");
    std::string expected = publisher_hello();
    for (const char* const topic : {"t", "u", "t", "u"}) {
        CHECK(h.publisher->prepare_if_wanted(unwanted, 1) == nullptr);
        char* const room = h.publisher->prepare_if_wanted(h.publisher->intern(topic), 300);
        REQUIRE(room != nullptr);
        *room = 'x';
        h.publisher->commit(1);
        expected += message(topic, "x");
    }
    h.publisher->flush();
    CHECK(h.turn_until([&] { return peer->read() == expected; }));
    CHECK(h.publisher->totals().messages == 8);
    CHECK(h.publisher->totals().matched == 4);
    peer.reset();
    REQUIRE(h.turn_until([&] { return h.departures.size() == 1; }));
    CHECK(h.publisher->prepare_if_wanted(h.publisher->intern("t"), 1) == nullptr);
}

TEST_CASE("every subscription change applies to the next message, regardless of cached results",
          "[core][publisher][send]") {
    PublisherHarness h;
    RawPeer peer = h.subscriber({});
    std::string expected = publisher_hello();
    for (int round = 0; round < 20; ++round) {
        const std::string prefix = std::string("topic").substr(0, static_cast<std::size_t>(round % 6));
        peer.send(subscribe(prefix));
        REQUIRE(h.turn_until([&] { return h.last_status().subscriptions_count == 1; }));
        h.publish("topic", std::to_string(round));
        h.publish("other", std::to_string(round));
        expected += message("topic", std::to_string(round));
        expected += prefix.empty() ? message("other", std::to_string(round)) : "";
        peer.send(cancel(prefix));
        REQUIRE(h.turn_until([&] { return h.last_status().subscriptions_count == 0; }));
        h.publish("topic", "nobody");
    }
    CHECK(h.turn_until([&] { return peer.read() == expected; }));
}
