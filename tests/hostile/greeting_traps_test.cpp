// Traps in the greeting, frames and READY: traffic of real peers that careless implementations handle wrongly.
#include "hostile/arena.hpp"

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using Kind = MonitorEventKind;

namespace {

/// Returns whether a peer that sends `bytes` as its handshake is accepted, and PING is answered.
bool gets_in(Arena& arena, const std::string& bytes) {
    const std::size_t before = arena.events.count(Kind::handshake_done);
    RawPeer peer = arena.connect();
    peer.send(bytes + ping("in"));
    return arena.turn_until([&] {
        peer.read();
        return peer.at_end() || peer.received().ends_with(pong("in"));
    }) && !peer.at_end() &&
           arena.events.count(Kind::handshake_done) == before + 1;
}

}  // namespace

TEST_CASE("trap: our greeting is sent completely and at once, because a peer may wait for it", "[hostile][trap]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    RawPeer peer = arena.connect();
    REQUIRE(arena.turn_until([&] { return peer.read().size() >= 64; }));
    CHECK(peer.received() == greeting());
}

TEST_CASE("trap: libzmq's greeting in three steps, each waiting for ours", "[hostile][trap]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    RawPeer peer = arena.connect();
    const std::string all = greeting_with(8, "\1");
    peer.send(all.substr(0, 10));
    REQUIRE(arena.turn_until([&] { return peer.read().size() >= 10; }));
    peer.send(all.substr(10, 1));
    REQUIRE(arena.turn_until([&] { return peer.read().size() >= 11; }));
    peer.send(all.substr(11));
    REQUIRE(arena.turn_until([&] { return peer.read().size() > 64; }));
    peer.send(arena.peer_ready("three steps"));
    CHECK(arena.turn_until([&] { return arena.peers().size() == 2; }));
    CHECK(arena.others_are_well());
}

TEST_CASE("trap: our READY does not wait for the peer's", "[hostile][trap]") {
    const Victim victim = each_victim();
    Arena arena(victim, {}, tcp_and_ipc());
    RawPeer peer = arena.connect();
    peer.send(greeting());
    std::string expected = arena.hello();
    if (victim == Victim::subscriber) {
        expected.resize(expected.size() - subscribe("").size());
    }
    CHECK(arena.turn_until([&] { return peer.read() == expected; }));
}

TEST_CASE("trap: padding, filler and as-server of a greeting are ignored", "[hostile][trap]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    const std::string ready_of_peer = arena.peer_ready("odd");
    CHECK(gets_in(arena, greeting_with(8, "\1") + ready_of_peer));  // libzmq without an identity
    CHECK(gets_in(arena, greeting_with(8, "\6") + ready_of_peer));  // libzmq with an identity of five bytes
    CHECK(gets_in(arena, greeting_with(1, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF") + ready_of_peer));
    CHECK(gets_in(arena, greeting_with(9, "\xFF") + ready_of_peer));  // only its last bit counts
    CHECK(gets_in(arena, greeting_with(9, "\1") + ready_of_peer));
    CHECK(gets_in(arena, greeting_with(32, "\1") + ready_of_peer));
    CHECK(gets_in(arena, greeting_with(32, "\xFF") + ready_of_peer));
    CHECK(gets_in(arena, greeting_with(33, std::string(31, 'x')) + ready_of_peer));
    CHECK(arena.others_are_well());
}

TEST_CASE("trap: versions 3.0 and later are accepted", "[hostile][trap]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    for (const std::string_view version :
         {std::string_view("\3\0", 2), std::string_view("\3\1"), std::string_view("\3\2"), std::string_view("\3\xFF"),
          std::string_view("\4\0", 2), std::string_view("\xFF\xFF")}) {
        CHECK(gets_in(arena, greeting_with(10, version) + arena.peer_ready("version")));
    }
    CHECK(arena.others_are_well());
}

TEST_CASE("trap: greeting, READY and the first traffic in one segment, or split anywhere", "[hostile][trap]") {
    const Victim victim = each_victim();
    Arena arena(victim, {}, tcp_and_ipc());
    const std::string bytes = greeting() + arena.peer_ready("cut") +
                              (victim == Victim::publisher ? subscribe("t") : frame(1, "first") + frame(0, "traffic")) +
                              ping("end");
    for (std::size_t cut = 0; cut < bytes.size(); cut += 5) {
        CAPTURE(cut);
        RawPeer peer = arena.connect();
        peer.send(std::string_view(bytes).substr(0, cut));
        arena.turn();
        peer.send(std::string_view(bytes).substr(cut));
        REQUIRE(arena.turn_until([&] { return peer.read().ends_with(pong("end")); }));
        if (victim == Victim::publisher) {
            REQUIRE(arena.publisher().subscribers().back().subscriptions == std::vector<std::string>{"t"});
        } else if (victim != Victim::subscriber) {
            REQUIRE(arena.received().back() == Frames{"first", "traffic"});
        }
    }
    CHECK(arena.others_are_well());
}

TEST_CASE("trap: names in READY in unusual case, unknown properties, in any order", "[hostile][trap]") {
    const Victim victim = each_victim();
    Arena arena(victim, {}, tcp_and_ipc());
    const std::string type = peer_type_of(victim);
    const auto says = [&](const std::string& properties) {
        return gets_in(arena, greeting() + command("READY", properties));
    };
    CHECK(says(property("socket-type", type)));
    CHECK(says(property("SOCKET-TYPE", type) + property("iDENTITY", "odd")));
    CHECK(says(property("X-Site", "north") + property("Resource", "") + property("Socket-Type", type)));
    CHECK(says(property("Socket-Type", type) + property("X-Big", std::string(4'000, 'x'))));
    CHECK(says(property("Socket-Type", type) + property("Identity", "")));
    CHECK(says(property("Socket-Type", type) + property("Identity", std::string(255, 'i'))));
    CHECK(says(property("Socket-Type", type) + property("X-A", "1") + property("X-A", "2")));
    CHECK(gets_in(arena, greeting() + long_frame(4, "\5READY" + property("Socket-Type", type))));
    CHECK(arena.others_are_well());
}

TEST_CASE("trap: peers of every compatible type are accepted", "[hostile][trap]") {
    const auto [victim, types] = GENERATE(table<Victim, std::vector<std::string>>({
        {Victim::publisher, {"SUB", "XSUB"}},
        {Victim::subscriber, {"PUB", "XPUB"}},
        {Victim::router, {"DEALER", "REQ", "ROUTER"}},
        {Victim::dealer, {"DEALER", "REP", "ROUTER"}},
    }));
    Arena arena(victim, {}, tcp_and_ipc());
    for (const char* type : {"PAIR", "PUB", "SUB", "REQ", "REP", "DEALER", "ROUTER", "PULL", "PUSH", "XPUB", "XSUB"}) {
        CAPTURE(type);
        RawPeer peer = arena.connect();
        peer.send(greeting() + ready(type));
        const std::size_t before = arena.events.count(Kind::handshake_done);
        const bool is_in = arena.turn_until([&] {
            peer.read();
            return peer.at_end() || arena.events.count(Kind::handshake_done) > before;
        }) && !peer.at_end();
        CHECK(is_in == (std::find(types.begin(), types.end(), type) != types.end()));
    }
    CHECK(arena.others_are_well());
}

TEST_CASE("trap: the long form of a small frame is accepted like the short one", "[hostile][trap]") {
    const Victim victim = each_victim();
    Arena arena(victim, {}, tcp_and_ipc());
    RawPeer peer = arena.join("long");
    peer.send(long_frame(1, "topic") + long_frame(0, "x") + long_frame(4, ping("long").substr(2)));
    CHECK(arena.gets(peer, pong("long")));
    if (victim == Victim::router || victim == Victim::dealer) {
        CHECK(arena.received() == std::vector<Frames>{{"topic", "x"}});
    }
    CHECK(arena.others_are_well());
}

TEST_CASE("trap: we send the short form up to 255 bytes and the long form above", "[hostile][trap]") {
    Arena arena(Victim::publisher, {}, tcp_and_ipc());
    RawPeer peer = arena.join();
    peer.send(subscribe("t"));
    REQUIRE(arena.turn_until([&] { return arena.publisher().totals().subscriptions == 2; }));
    std::string expected;
    for (const std::size_t bytes : {0U, 1U, 255U, 256U, 300U}) {
        const std::string topic = "t" + std::string(bytes, 'x');
        arena.publisher().send(topic, std::string(bytes, 'y'));
        expected += message(topic, std::string(bytes, 'y'));
    }
    CHECK(arena.gets(peer, expected));
}

TEST_CASE("trap: commands between the frames of a message do not split it", "[hostile][trap]") {
    const Victim victim = each_victim();
    Arena arena(victim, {}, tcp_and_ipc());
    RawPeer peer = arena.join("interleaved");
    peer.send(frame(1, "one") + ping("1") + frame(1, "") + command("UNKNOWN", "x") + ping("2"));
    CHECK(arena.gets(peer, pong("1") + pong("2")));
    CHECK(arena.received().empty());
    peer.send(frame(0, "three"));
    if (victim == Victim::router || victim == Victim::dealer) {
        REQUIRE(arena.turn_until([&] { return !arena.received().empty(); }));
        CHECK(arena.received() == std::vector<Frames>{{"one", "", "three"}});
    }
    CHECK(arena.others_are_well());
}

TEST_CASE("trap: an ERROR from a peer after its handshake ends the session, and none is sent in return",
          "[hostile][trap]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    const std::string reason = GENERATE("", "\3bye", "\xFFshort");
    RawPeer peer = arena.join("sorry");
    peer.send(command("ERROR", reason));
    CHECK(arena.is_cut(peer));
    CHECK(peer.received() == arena.hello());
    CHECK(arena.totals().violations == 1);
    CHECK(arena.others_are_well());
}
