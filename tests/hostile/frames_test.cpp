// Hostile peers 1, 2, 10 and 11: frames with false sizes, and messages that never end.
#include "hostile/arena.hpp"

using namespace telegate;
using namespace telegate::test;
using Kind = MonitorEventKind;

namespace {

/// Checks that a peer that has completed its handshake and sends `bytes` is closed for it.
void check_violation(Arena& arena, const std::string& bytes) {
    const std::uint64_t before = arena.totals().violations;
    RawPeer peer = arena.join("attacker");
    peer.send(bytes);
    CHECK(arena.is_cut(peer));
    CHECK(peer.received() == arena.hello());
    CHECK(arena.totals().violations == before + 1);
    CHECK_FALSE(arena.events.detail(Kind::disconnected).empty());
}

/// Returns whether the socket delivers arriving messages.
bool receives(Victim victim) {
    return victim != Victim::publisher;
}

}  // namespace

TEST_CASE("hostile 1: a declared length of 2^63 or similar ends the session", "[hostile]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    const unsigned flags = GENERATE(0U, 1U, 4U);
    for (const std::uint64_t bytes : {1ULL << 63U, (1ULL << 63U) - 1, ~0ULL, 1ULL << 32U, (1ULL << 32U) + 1}) {
        CAPTURE(flags, bytes);
        check_violation(arena, announce(flags, bytes));
        check_violation(arena, message("topic", "payload") + announce(flags, bytes) + std::string(1'000, 'x'));
    }
    CHECK(arena.totals().handshakes_failed == 0);
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 1: the long form of no bytes is an empty frame", "[hostile]") {
    const Victim victim = each_victim();
    Arena arena(victim, {}, tcp_and_ipc());
    RawPeer peer = arena.join("long");
    peer.send(long_frame(1, "") + long_frame(0, "") + long_frame(0, "x"));
    REQUIRE(arena.turn_until([&] {
        const std::vector<PeerStatus> peers = arena.peers();
        return peers.size() == 2 && peers.back().received == 2;
    }));
    if (receives(victim)) {
        CHECK(arena.received() == std::vector<Frames>{{"", ""}, {"x"}});
    }
    CHECK_FALSE(peer.at_end());
    check_violation(arena, long_frame(4, ""));
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 2: a huge declared size followed by silence costs no memory", "[hostile]") {
    const Victim victim = each_victim();
    constexpr std::size_t attackers = 20;
    Arena arena(victim, {}, tcp_and_ipc());
    const std::uint64_t announced =
        victim == Victim::publisher ? limits::publisher_message_bytes_max - 16 : limits::message_bytes_max - 16;
    std::vector<RawPeer> peers;
    for (std::size_t index = 0; index < attackers; ++index) {
        peers.push_back(arena.join("attacker " + std::to_string(index)));
    }
    const std::size_t before = heap_in_use();
    for (RawPeer& peer : peers) {
        peer.send(announce(0, announced));
    }
    for (int turn = 0; turn < 20; ++turn) {
        arena.turn();
    }
    // At most a receive buffer each, although over a gigabyte was announced.
    CHECK(heap_in_use() < before + attackers * 300 * 1'024);
    CHECK(arena.others_are_well());
    for (RawPeer& peer : peers) {
        peer.read();
        CHECK_FALSE(peer.at_end());
    }
}

TEST_CASE("hostile 2: memory for a large message grows with the bytes that have arrived, not with the announced size",
          "[hostile]") {
    Arena arena(GENERATE(Victim::router, Victim::dealer, Victim::subscriber), {}, tcp_and_ipc());
    constexpr std::size_t arrived = 2'000'000;
    const std::size_t before = heap_in_use();
    {
        RawPeer peer = arena.join("attacker");
        peer.send(announce(0, limits::message_bytes_max - 16));
        for (std::size_t sent = 0; sent < arrived; sent += 1'000) {
            peer.send(std::string(1'000, 'x'));
            REQUIRE(arena.turn_until([&] { return peer.send(); }));
        }
        REQUIRE(arena.turn_until([&] { return arena.peers().back().bytes_received >= arrived; }));
        CHECK(heap_in_use() < before + 3 * arrived);
    }
    REQUIRE(arena.turn_until([&] { return arena.peers().size() == 1; }));
    CHECK(arena.received().empty());
    CHECK(arena.turn_until([&] { return heap_in_use() < before + arrived / 2; }));
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 2: a message over the total limit is closed as soon as that is known", "[hostile]") {
    PublisherOptions options;
    options.message_bytes_max = 10'000;
    Arena arena(each_victim(), options, tcp_and_ipc());
    const std::string body(4'000, 'x');
    check_violation(arena, announce(0, 10'001));
    check_violation(arena, frame(1, body) + frame(1, body) + announce(0, 4'000));
    CHECK(arena.received().empty());
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 10: reserved bits and commands with MORE end the session", "[hostile]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    for (const unsigned flags : {5U, 7U, 8U, 9U, 12U, 16U, 32U, 64U, 128U, 132U, 255U}) {
        CAPTURE(flags);
        check_violation(arena, big_endian(flags, 1) + std::string(9, '\0') + "\4PING");
        check_violation(arena, frame(1, "topic") + big_endian(flags, 1) + std::string(100, '\0'));
    }
    CHECK(arena.received().empty());
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 10: a command without a name, or with one that is longer than its frame, ends the session",
          "[hostile]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    check_violation(arena, long_frame(4, ""));
    check_violation(arena, frame(4, "") + ping("behind it"));  // read as a long size, see subscription_traps_test.cpp
    check_violation(arena, frame(4, std::string(1, '\0')));
    check_violation(arena, frame(4, std::string("\0PING", 5)));
    check_violation(arena, frame(4, "\x20PING"));
    check_violation(arena, "GET / HTTP/1.1\r\n\r\n");
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 11: endless frames are stopped by their number", "[hostile]") {
    PublisherOptions options;
    options.frames_per_message_max = 16;
    const Victim victim = each_victim();
    Arena arena(victim, options, tcp_and_ipc());
    std::string endless;
    for (int count = 0; count < 17; ++count) {
        endless += frame(1, count % 2 == 0 ? "" : "x");
    }
    check_violation(arena, endless);
    CHECK(arena.received().empty());

    std::string allowed;
    for (int count = 0; count < 15; ++count) {
        allowed += frame(1, "x");
    }
    RawPeer peer = arena.join("allowed");
    peer.send(allowed + frame(0, "x"));
    REQUIRE(arena.turn_until([&] { return arena.peers().back().received == 1; }));
    CHECK(arena.received().size() == (receives(victim) ? 1 : 0));
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 11: endless frames, one at a time, cost no memory beyond the limit", "[hostile]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    RawPeer peer = arena.join("attacker");
    const std::size_t before = heap_in_use();
    std::size_t frames = 0;
    CHECK(arena.turn_until([&] {
        for (int burst = 0; burst < 16; ++burst, ++frames) {
            peer.send(frame(1, "x"));
        }
        peer.read();
        return peer.at_end() || frames > 100'000;
    }));
    CHECK(peer.at_end());
    CHECK(frames < 50'000);
    CHECK(heap_in_use() < before + 1'024 * 1'024);
    CHECK(arena.totals().violations == 1);
    CHECK(arena.received().empty());
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 11: endless large frames are stopped by their bytes", "[hostile]") {
    PublisherOptions options;
    options.message_bytes_max = 1'000'000;
    Arena arena(each_victim(), options, tcp_and_ipc());
    RawPeer peer = arena.join("attacker");
    const std::size_t before = heap_in_use();
    std::size_t sent = 0;
    CHECK(arena.turn_until([&] {
        if (peer.send()) {
            peer.send(frame(1, std::string(50'000, 'x')));
            sent += 50'000;
        }
        peer.read();
        return peer.at_end() || sent > 100'000'000;
    }));
    CHECK(peer.at_end());
    CHECK(heap_in_use() < before + 8'000'000);
    CHECK(arena.totals().violations == 1);
    CHECK(arena.received().empty());
    CHECK(arena.others_are_well());
}
