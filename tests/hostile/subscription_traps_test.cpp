// Traps in subscriptions and heartbeats, on the publishing and on the subscribing side.
#include "hostile/arena.hpp"

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using Kind = MonitorEventKind;

namespace {

/// Returns a peer that sends `bytes` after its handshake with the given version, and then PING, which shows that all
/// was processed.
RawPeer subscribed(Arena& arena, unsigned minor, const std::string& bytes) {
    RawPeer peer = arena.connect();
    peer.send(greeting(minor) + arena.peer_ready() + bytes + ping("understood"));
    REQUIRE(arena.gets(peer, pong("understood")));
    return peer;
}

/// Publishes each topic and returns whether the peer gets those of `wanted` and no others.
bool gets_only(Arena& arena, RawPeer& peer, const std::vector<std::string>& topics,
               const std::vector<std::string>& wanted) {
    std::string expected = peer.received().substr(arena.hello().size());
    for (const std::string& topic : topics) {
        arena.publisher().send(topic, "payload");
    }
    for (const std::string& topic : wanted) {
        expected += message(topic, "payload");
    }
    arena.turn();
    peer.send(ping("end"));
    return arena.gets(peer, expected + pong("end"));
}

/// A raw publisher for our subscriber. hears() returns whether the subscriber sends exactly `bytes` after its READY.
class RawPublisher {
  public:
    RawPublisher(Bench& bench, const Endpoint& endpoint, unsigned minor) : bench_(bench), peer_(endpoint) {
        peer_.send(greeting(minor) + ready("PUB"));
    }
    bool hears(const std::string& bytes) {
        const std::string all = greeting() + ready("SUB") + bytes;
        return bench_.turn_until([&] { return peer_.read().size() >= all.size() || peer_.at_end(); }) &&
               peer_.received() == all;
    }
    [[nodiscard]] RawPeer& peer() noexcept { return peer_; }

  private:
    Bench& bench_;
    RawPeer peer_;
};

PublisherOptions with_heartbeat(std::chrono::milliseconds interval, std::chrono::milliseconds timeout) {
    PublisherOptions options;
    options.heartbeat_interval = interval;
    options.heartbeat_timeout = timeout;
    return options;
}

}  // namespace

TEST_CASE("trap: both forms of subscription from peers of any version, even mixed", "[hostile][trap]") {
    Arena arena(Victim::publisher, {}, tcp_and_ipc());
    const unsigned minor = GENERATE(0U, 1U, 7U);
    CAPTURE(minor);
    RawPeer peer = subscribed(
        arena, minor,
        subscribe("a") + subscribe_3_0("b") + subscribe("c") + subscribe_3_0("d") + cancel_3_0("a") + cancel("b"));
    CHECK(arena.publisher().subscribers().back().zmtp_minor == std::min(minor, 1U));
    CHECK(gets_only(arena, peer, {"a", "b", "c", "d"}, {"c", "d"}));
    CHECK(arena.others_are_well());
}

TEST_CASE("trap: subscribing twice and canceling once leaves nothing", "[hostile][trap]") {
    Arena arena(Victim::publisher, {}, tcp_and_ipc());
    RawPeer peer = subscribed(arena, 1, subscribe("a") + subscribe_3_0("a") + subscribe("b") + cancel("a"));
    CHECK(gets_only(arena, peer, {"a", "b"}, {"b"}));
    peer.send(cancel("b") + cancel("b") + cancel("never") + subscribe("b"));
    arena.turn();
    CHECK(gets_only(arena, peer, {"a", "b"}, {"b"}));
    CHECK(arena.others_are_well());
}

TEST_CASE("trap: topics that are empty, binary or longer than a short frame", "[hostile][trap]") {
    Arena arena(Victim::publisher, {}, tcp_and_ipc());
    const auto form = GENERATE(&subscribe, &subscribe_3_0);
    const std::string topic =
        GENERATE(std::string("\0\xFF", 2), std::string(244, 'x'), std::string(245, 'x'), std::string(246, 'x'),
                 std::string(254, 'x'), std::string(255, 'x'), std::string(256, 'x'), std::string(1'024, 'x'));
    CAPTURE(topic.size());
    RawPeer peer = subscribed(arena, 1, form(topic));
    CHECK(gets_only(arena, peer, {topic, topic + 'y', topic.substr(1)}, {topic, topic + 'y'}));
}

TEST_CASE("trap: libzmq sends a topic of 246 to 255 bytes with a long size but without its flag", "[hostile][trap]") {
    Arena arena(Victim::publisher, {}, tcp_and_ipc());
    const std::string topic(GENERATE(246U, 250U, 255U), 'x');
    std::string flagless = long_frame(4, "\x09SUBSCRIBE" + topic);
    flagless[0] = '\4';
    const bool in_pieces = GENERATE(true, false);
    RawPeer peer = arena.join();
    for (std::size_t at = 0; at < flagless.size(); at += in_pieces ? 1 : flagless.size()) {
        peer.send(std::string_view(flagless).substr(at, in_pieces ? 1 : flagless.size()));
        arena.turn();
    }
    peer.send(ping("understood"));
    REQUIRE(arena.gets(peer, pong("understood")));
    CHECK(gets_only(arena, peer, {topic, topic + 'y', "other"}, {topic, topic + 'y'}));
    CHECK(arena.others_are_well());
}

TEST_CASE("trap: an empty subscription requests everything", "[hostile][trap]") {
    Arena arena(Victim::publisher, {}, tcp_and_ipc());
    const auto form = GENERATE(&subscribe, &subscribe_3_0);
    RawPeer peer = arena.join();
    peer.send(form(""));
    REQUIRE(arena.turn_until([&] { return arena.publisher().totals().subscriptions == 2; }));
    arena.publisher().send("", "marker");
    CHECK(arena.turn_until([&] { return peer.read().find(message("", "marker")) != std::string::npos; }));
    CHECK(arena.turn_until([&] { return peer.read().find("number") != std::string::npos; }));
}

TEST_CASE("trap: a subscription in the segment of READY takes effect before the first message after it",
          "[hostile][trap]") {
    Arena arena(Victim::publisher, {}, tcp_and_ipc());
    RawPeer peer = arena.connect();
    peer.send(greeting() + arena.peer_ready() + subscribe("t"));
    while (arena.peers().size() == 1) {
        arena.turn();
    }
    arena.publisher().send("t", "first");
    CHECK(arena.gets(peer, message("t", "first")));
}

TEST_CASE("trap: every frame of a message upstream may subscribe", "[hostile][trap]") {
    Arena arena(Victim::publisher, {}, tcp_and_ipc());
    RawPeer peer = subscribed(arena, 1,
                              frame(1, "\1a") + frame(1, "\1b") + frame(1, "neither") + frame(0, "\1c") +
                                  frame(1, std::string("\0b", 2)) + frame(0, "\1d"));
    CHECK(gets_only(arena, peer, {"a", "b", "c", "d"}, {"a", "c", "d"}));
}

TEST_CASE("trap: our subscriber uses the form of its publisher's version", "[hostile][trap]") {
    Bench bench;
    Subscriber subscriber(bench.reactor, {});
    const Endpoint endpoint = subscriber.bind({Transport::tcp, "127.0.0.1", 0, {}});
    // At 255 bytes libzmq's own 3.0 form is wrong: with the leading byte they need the long form.
    const std::string topic(GENERATE(1U, 245U, 246U, 254U, 255U, 256U), 'x');
    CAPTURE(topic.size());
    subscriber.subscribe(topic);
    RawPublisher old_one(bench, endpoint, 0);
    RawPublisher new_one(bench, endpoint, 1);
    CHECK(old_one.hears(subscribe_3_0(topic)));
    CHECK(new_one.hears(subscribe(topic)));
    subscriber.unsubscribe(topic);
    CHECK(old_one.hears(subscribe_3_0(topic) + cancel_3_0(topic)));
    CHECK(new_one.hears(subscribe(topic) + cancel(topic)));
}

TEST_CASE("trap: our subscriber sends every subscription to a new publisher, however many there are",
          "[hostile][trap]") {
    Bench bench;
    Subscriber subscriber(bench.reactor, {});
    const Endpoint endpoint = subscriber.bind({Transport::tcp, "127.0.0.1", 0, {}});
    constexpr std::size_t count = 3'000;  // libzmq loses those above 1,000
    std::size_t bytes = 0;
    for (std::size_t number = 0; number < count; ++number) {
        const std::string topic = std::to_string(number) + '/';
        subscriber.subscribe(topic);
        bytes += subscribe(topic).size();
    }
    RawPublisher publisher(bench, endpoint, 1);
    RawPeer& peer = publisher.peer();
    const std::size_t hello = (greeting() + ready("SUB")).size();
    REQUIRE(bench.turn_until([&] { return peer.read().size() == hello + bytes; }));
    CHECK(peer.received().find(subscribe("0/")) != std::string::npos);
    CHECK(peer.received().find(subscribe(std::to_string(count - 1) + '/')) != std::string::npos);
}

TEST_CASE("trap: our subscriber delivers only subscribed topics, whatever a publisher sends", "[hostile][trap]") {
    Bench bench;
    Subscriber subscriber(bench.reactor, {});
    const Endpoint endpoint = subscriber.bind({Transport::tcp, "127.0.0.1", 0, {}});
    subscriber.subscribe("wanted");
    RawPublisher publisher(bench, endpoint, 1);
    REQUIRE(publisher.hears(subscribe("wanted")));
    publisher.peer().send(message("unwanted", "wanted") + message("wanted", "1") + frame(0, "wanted alone") +
                          frame(0, "") + message("wante", "") + message("wanted/x", "2"));
    Inbox inbox(subscriber);
    REQUIRE(bench.turn_until([&] { return inbox.receive() == 3; }));
    CHECK(inbox.messages == std::vector<Frames>{{"wanted", "1"}, {"wanted alone"}, {"wanted/x", "2"}});
}

TEST_CASE("trap: PING is answered whatever the peer's version", "[hostile][trap]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    const unsigned minor = GENERATE(0U, 1U);
    RawPeer peer = arena.connect();
    peer.send(greeting(minor) + arena.peer_ready("pinger") + ping("") + ping("context"));
    CHECK(arena.turn_until([&] { return peer.read().ends_with(pong("") + pong("context")); }));
    CHECK(arena.others_are_well());
}

TEST_CASE("trap: a PONG without the context of our PING is a heartbeat too", "[hostile][trap]") {
    Bench bench;
    Router router(bench.reactor, with_heartbeat(10ms, 3'000ms));
    const Endpoint endpoint = router.bind({Transport::tcp, "127.0.0.1", 0, {}});
    RawPeer peer(endpoint);
    const std::string hello = greeting() + ready("ROUTER", "");
    peer.send(greeting() + ready("DEALER", "terse"));
    const std::string ping_name = "\4PING";
    std::size_t answered = hello.size();
    REQUIRE(bench.turn_until([&] {
        const std::size_t next = peer.read().find(ping_name, answered);
        if (next != std::string::npos) {
            answered = next + ping_name.size();
            peer.send(pong(""));
        }
        return !router.peers().empty() && router.peers().at(0).round_trip.has_value();
    }));
    CHECK_FALSE(peer.at_end());
}

TEST_CASE("trap: our PING has a TTL that libzmq does not miscount, and no long context", "[hostile][trap]") {
    Bench bench;
    Publisher publisher(bench.reactor, with_heartbeat(10ms, 65'000ms));
    RawPeer peer(publisher.bind({Transport::tcp, "127.0.0.1", 0, {}}));
    peer.send(greeting() + ready("SUB"));
    REQUIRE(bench.turn_until([&] { return peer.read().size() >= publisher_hello().size() + 9; }));
    const std::string said = peer.received().substr(publisher_hello().size());
    const auto byte = [&](std::size_t index) {
        return static_cast<unsigned char>(said.at(index));
    };
    CHECK(byte(0) == 4);
    CHECK(byte(1) >= 7);
    CHECK(byte(1) <= 7 + 16);
    CHECK(said.substr(2, 5) == "\4PING");
    const unsigned ttl = byte(7) * 256U + byte(8);
    CHECK(ttl > 0);
    CHECK(ttl <= 650);
}

TEST_CASE("trap: a peer that is silent for longer than its own TTL is closed", "[hostile][trap]") {
    PublisherOptions options = with_heartbeat(GENERATE(0ms, 10'000ms), 30'000ms);
    options.handshake_time_max = 40ms;  // short deadlines make the socket check often
    Arena arena(each_victim(), options, tcp_and_ipc());
    RawPeer peer = arena.join("mortal");
    const auto begin = std::chrono::steady_clock::now();
    peer.send(ping("", 1));
    CHECK(arena.is_cut(peer, 20s));
    CHECK(std::chrono::steady_clock::now() - begin >= 100ms);
    CHECK(arena.totals().heartbeat_timeouts == 1);
    CHECK(arena.others_are_well());
}

TEST_CASE("trap: a slow but live subscriber is not taken for a dead one", "[hostile][trap]") {
    Bench bench;
    PublisherOptions options = with_heartbeat(10ms, 1'000ms);
    options.backlog_bytes_max = 64 * 1'024 * 1'024;
    Publisher publisher(bench.reactor, options);
    RawPeer peer(publisher.bind({Transport::tcp, "127.0.0.1", 0, {}}), 4'096);
    peer.send(greeting() + ready("SUB") + subscribe("t"));
    REQUIRE(bench.turn_until([&] { return publisher.totals().subscriptions == 1; }));
    const std::string body(1'024 * 1'024, 'x');
    for (int number = 0; number < 10; ++number) {
        publisher.send("t", body);
    }
    // It reads all the time, a little, and never sends anything.
    const auto begin = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - begin <= 2'500ms) {
        bench.turn();
        peer.read(2'000);
    }
    REQUIRE(publisher.subscribers().size() == 1);
    CHECK(publisher.subscribers().front().pending > 0);  // there was always something to read
    CHECK(publisher.totals().heartbeat_timeouts == 0);
}
