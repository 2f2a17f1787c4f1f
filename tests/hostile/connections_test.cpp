// Hostile peers 18 to 20 and 22: identities, storms of connections, no descriptors left.
#include "core/limits.hpp"
#include "hostile/arena.hpp"
#include "hostile/no_descriptors.hpp"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <iterator>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using Kind = MonitorEventKind;

namespace {

std::size_t descriptors_open() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::chrono::nanoseconds processor_time() {
    timespec time{};
    ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

TEST_CASE("hostile 18: an identity in use goes to the new connection, and no other identity does", "[hostile]") {
    Arena arena(Victim::router, {}, tcp_and_ipc());
    std::vector<RawPeer> claimants;
    claimants.push_back(arena.join("same"));
    for (int round = 0; round < 20; ++round) {
        claimants.push_back(arena.join("same"));
        CHECK(arena.is_cut(claimants[claimants.size() - 2]));
        CHECK(arena.peers().size() <= 2 + limits::retiring_per_identity_max);
    }
    REQUIRE(arena.router().send("same", {"newest"}) == SendStatus::sent);
    CHECK(arena.gets(claimants.back(), frame(0, "newest")));
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 18: a peer that lost its identity and keeps flooding is closed in time, and its successor is read",
          "[hostile]") {
    PublisherOptions options;
    options.heartbeat_interval = 100ms;
    options.heartbeat_timeout = 2'000ms;
    Arena arena(Victim::router, options, tcp_and_ipc());
    RawPeer flooder = arena.join("same");
    RawPeer newcomer = arena.join("same");
    newcomer.send(frame(0, "heard"));
    const std::string flood = frame(0, std::string(1'000, 'f'));
    CHECK(arena.turn_until([&] {
        flooder.send(flooder.send() ? flood : std::string());
        newcomer.send(pong(""));
        const auto& received = arena.received();
        return std::find(received.begin(), received.end(), Frames{"heard"}) != received.end() &&
               arena.events.count(Kind::disconnected) > 0;
    }));
    CHECK(arena.events.detail(Kind::disconnected).starts_with("identity taken over"));
    REQUIRE(arena.router().send("same", {"yours"}) == SendStatus::sent);
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 18: messages pending for a peer that lost its identity are counted as dropped", "[hostile]") {
    Arena arena(Victim::router, {}, tcp_and_ipc());
    RawPeer sleeper = arena.join("same", 4'096);
    const std::string body(100'000, 'x');
    for (int number = 0; number < 120; ++number) {
        REQUIRE(arena.router().send("same", {body}) == SendStatus::sent);
    }
    arena.turn();
    REQUIRE(arena.totals().pending > 0);
    RawPeer newcomer = arena.join("same");
    REQUIRE(arena.turn_until([&] { return arena.totals().dropped > 0; }));
    CHECK(adds_up(arena.totals()));
    REQUIRE(arena.router().send("same", {"yours"}) == SendStatus::sent);
    CHECK(arena.gets(newcomer, frame(0, "yours")));
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 18: an identity that begins with zero is refused, even if it looks like an automatic one",
          "[hostile]") {
    Arena arena(Victim::router, {}, tcp_and_ipc());
    RawPeer nameless = arena.join("");
    nameless.send(frame(0, "hello"));
    REQUIRE(arena.turn_until([&] { return arena.senders().size() == 1; }));
    const std::string automatic = arena.senders().at(0);
    std::string next = automatic;
    ++next.back();
    for (const std::string& identity : {std::string(1, '\0'), automatic, next, std::string(255, '\0')}) {
        RawPeer thief = arena.connect();
        thief.send(greeting() + arena.peer_ready(identity));
        CHECK(arena.is_cut(thief));
    }
    CHECK(arena.totals().handshakes_failed == 4);
    REQUIRE(arena.router().send(automatic, {"still yours"}) == SendStatus::sent);
    CHECK(arena.gets(nameless, frame(0, "still yours")));
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 18: otherwise any bytes up to 255 are an identity", "[hostile]") {
    Arena arena(Victim::router, {}, tcp_and_ipc());
    for (const std::string& identity : {std::string("\xFF\0\n%", 4), std::string(255, 'x'), std::string("\1")}) {
        RawPeer peer = arena.join(identity);
        REQUIRE(arena.router().send(identity, {"yours"}) == SendStatus::sent);
        CHECK(arena.gets(peer, frame(0, "yours")));
    }
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 19: a storm of connections that come and go leaves nothing behind", "[hostile]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    const std::size_t before = descriptors_open();
    const std::string bytes = greeting() + arena.peer_ready("storm");
    std::size_t connections = 1;
    for (std::size_t round = 0; round < 10; ++round) {
        std::vector<RawPeer> peers;
        for (std::size_t index = 0; index < 40; ++index, ++connections) {
            peers.push_back(arena.connect());
            peers.back().send(std::string_view(bytes).substr(0, (round * 40 + index) * 7 % (bytes.size() + 40)));
            if (index % 5 == 0) {
                peers[index / 2].close();
            }
        }
        arena.turn();
    }
    REQUIRE(arena.turn_until([&] {
        const SocketTotals totals = arena.totals();
        return totals.connections_accepted + totals.connections_refused >= connections && arena.peers().size() == 1 &&
               descriptors_open() == before;
    }));
    CHECK(adds_up(arena.totals()));
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 19: many simultaneous connections are all accepted", "[hostile]") {
    constexpr std::size_t count = 200;
    Arena arena(each_victim(), {}, tcp_and_ipc());
    std::vector<RawPeer> crowd;
    for (std::size_t index = 0; index < count; ++index) {
        crowd.push_back(arena.connect());
        crowd.back().send(greeting() + arena.peer_ready("member " + std::to_string(index)));
    }
    REQUIRE(arena.turn_until([&] { return arena.peers().size() == count + 1; }));
    CHECK(arena.totals().handshakes_failed == 0);
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 19: many simultaneous connections do not block existing peers", "[hostile]") {
    constexpr std::size_t count = 300;
    Arena arena(Victim::router, {}, tcp_and_ipc());
    RawPeer member = arena.join("member");
    std::vector<RawPeer> crowd;
    for (std::size_t index = 0; index < count; ++index) {
        crowd.push_back(arena.connect());
    }
    member.send(frame(0, "here"));
    std::uint64_t accepted = 0;
    arena.router().set_on_readable([&] {
        accepted = accepted == 0 ? arena.totals().connections_accepted : accepted;
        arena.router().set_on_readable({});
    });
    REQUIRE(arena.turn_until([&] { return !arena.received().empty(); }));
    CHECK(accepted > 0);
    CHECK(accepted < 2 * limits::accepts_per_turn);
    CHECK(arena.turn_until([&] { return arena.totals().connections_accepted == count + 2; }));
}

TEST_CASE("hostile 20: without descriptors new connections are closed, others continue, and nothing spins",
          "[hostile]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    std::vector<RawPeer> late;
    for (int count = 0; count < 5; ++count) {
        late.push_back(arena.connect());
    }
    {
        const NoDescriptors none;
        const std::size_t numbers_before = arena.numbers();
        REQUIRE(arena.turn_until([&] { return arena.totals().accept_errors > 0; }));
        for (RawPeer& peer : late) {
            CHECK(arena.is_cut(peer));
        }
        CHECK(arena.events.count(Kind::accept_failed) > 0);
        CHECK(arena.numbers() > numbers_before);
        CHECK(arena.peers().size() == 1);

        // With no connection to serve, the event loop stays idle although there are still no descriptors.
        const auto begin = std::chrono::steady_clock::now();
        const auto used = processor_time();
        while (std::chrono::steady_clock::now() - begin < 100ms) {
            arena.reactor.run_for(20ms);
        }
        CHECK(processor_time() - used < 50ms);
    }
    CHECK(arena.turn_until([&] {
        RawPeer peer = arena.connect();
        peer.send(greeting() + arena.peer_ready("later"));
        return arena.turn_until([&] { return arena.peers().size() == 2 || (peer.read(), peer.at_end()); }) &&
               arena.peers().size() == 2;
    }));
    CHECK(arena.turn_until([&] { return arena.peers().size() == 1; }));
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 22: a REQ message without its delimiter is an ordinary message", "[hostile]") {
    Arena arena(GENERATE(Victim::router, Victim::dealer), {}, tcp_and_ipc());
    RawPeer peer = arena.connect();
    const bool is_router = std::string_view(arena.hello()).ends_with(ready("ROUTER", ""));
    peer.send(greeting() + (is_router ? ready("REQ", "asker") : ready("REP")));
    peer.send(frame(0, "no delimiter") + frame(1, "") + frame(0, "with delimiter") + frame(0, ""));
    REQUIRE(arena.turn_until([&] { return arena.received().size() == 3; }));
    CHECK(arena.received() == std::vector<Frames>{{"no delimiter"}, {"", "with delimiter"}, {""}});
    if (is_router) {
        CHECK(arena.senders() == std::vector<std::string>(3, "asker"));
        REQUIRE(arena.router().send("asker", {"", "answer"}) == SendStatus::sent);
        CHECK(arena.gets(peer, message("", "answer")));
    }
    CHECK(arena.others_are_well());
}
