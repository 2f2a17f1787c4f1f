// Hostile peers 12 to 15 and 21: floods of commands and subscriptions.
#include "hostile/arena.hpp"

#include <ctime>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using Kind = MonitorEventKind;

namespace {

std::string repeated(std::string_view bytes, std::size_t count) {
    std::string out;
    out.reserve(bytes.size() * count);
    for (std::size_t index = 0; index < count; ++index) {
        out += bytes;
    }
    return out;
}

/// Returns topics "0/" to "(count-1)/" in the given form.
std::string bomb(std::size_t count, std::string (*form)(std::string_view)) {
    std::string out;
    for (std::size_t number = 0; number < count; ++number) {
        out += form(std::to_string(number) + '/');
    }
    return out;
}

bool takes_all(Arena& arena, RawPeer& peer) {
    return arena.turn_until([&] { return peer.send(); });
}

}  // namespace

TEST_CASE("hostile 12: a peer that sends PING without reading the replies is disconnected", "[hostile]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    RawPeer peer = arena.join("attacker", 4'096);
    const std::size_t before = heap_in_use();
    const std::string burst = repeated(ping("sixteen bytes..."), 1'000);
    std::size_t sent = 0;
    CHECK(arena.turn_until([&] {
        if (peer.send()) {
            peer.send(burst);
            sent += burst.size();
        }
        return arena.peers().size() == 1 || sent > 200'000'000;
    }));
    CHECK(arena.peers().size() == 1);
    CHECK_FALSE(arena.events.detail(Kind::disconnected).empty());
    CHECK(heap_in_use() < before + 4'000'000);
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 12: a peer that reads its replies may send PING freely, and each context is returned", "[hostile]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    RawPeer peer = arena.join("busy");
    std::string expected;
    for (std::size_t bytes = 0; bytes <= 16; ++bytes) {
        const std::string context(bytes, static_cast<char>('a' + bytes));
        peer.send(ping(context));
        expected += pong(context);
        CHECK(arena.gets(peer, expected));
    }
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 12: a PING that is too short or has too long a context ends the session", "[hostile]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    const std::string bytes =
        GENERATE(command("PING", ""), command("PING", "\1"), ping("seventeen bytes !"), ping(std::string(1'000, 'x')),
                 ping(std::string(65'536, 'x')), announce(4, 65'536 + 7), announce(4, 100'000'000));
    RawPeer peer = arena.join("attacker");
    peer.send(bytes);
    CHECK(arena.is_cut(peer));
    CHECK(peer.received() == arena.hello());
    CHECK(arena.totals().violations == 1);
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 13: a flood of unknown commands is skipped", "[hostile]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    RawPeer peer = arena.join("attacker");
    const std::size_t before = heap_in_use();
    const std::string flood = repeated(command("X", ""), 30'000);
    for (int round = 0; round < 10; ++round) {
        peer.send(flood);
        REQUIRE(takes_all(arena, peer));
    }
    CHECK(heap_in_use() < before + 2'000'000);
    peer.send(ping("still here"));
    CHECK(arena.gets(peer, pong("still here")));
    CHECK(arena.totals().violations == 0);
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 13: a flood of commands does not keep others from their turn", "[hostile]") {
    Arena arena(Victim::router, {}, tcp_and_ipc());
    RawPeer attacker = arena.join("attacker");
    RawPeer member = arena.join("member");
    attacker.send(repeated(command("X", ""), 40'000) + frame(0, "end of the flood"));
    member.send(frame(0, "a word"));
    REQUIRE(arena.turn_until([&] { return arena.received().size() == 2; }));
    CHECK(arena.senders() == std::vector<std::string>{"member", "attacker"});
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 13: unknown commands of any allowed length are skipped", "[hostile]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    RawPeer peer = arena.join("odd");
    peer.send(command("JOIN", "group") + command("LEAVE", "group") + command(std::string(255, 'N'), "") +
              command("BIG", std::string(1'500, 'x')) + command("ping", "") + command("P", "") + ping("after"));
    CHECK(arena.gets(peer, pong("after")));
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 14: an excessive number of subscriptions ends the connection", "[hostile]") {
    Arena arena(Victim::publisher, {}, tcp_and_ipc());
    const bool as_messages = GENERATE(true, false);
    constexpr std::size_t count = 100'000;
    RawPeer peer = arena.join();
    const std::size_t before = heap_in_use();
    peer.send(bomb(count, as_messages ? subscribe_3_0 : subscribe));
    CHECK(arena.is_cut(peer));
    CHECK(arena.publisher().totals().subscriptions == 1);
    CHECK(arena.publisher().totals().subscriptions_refused == 1);
    CHECK(heap_in_use() < before + 8'000'000);
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 14: endless topics are refused or disconnected before they cost memory", "[hostile]") {
    Arena arena(Victim::publisher, {}, tcp_and_ipc());
    const std::size_t before = heap_in_use();
    SECTION("a command announced with 100 MB") {
        RawPeer peer = arena.join();
        peer.send(announce(4, 100'000'000) + "\x09SUBSCRIBE" + std::string(10'000, 'x'));
        CHECK(arena.is_cut(peer));
    }
    SECTION("a message announced with 100 MB") {
        RawPeer peer = arena.join();
        peer.send(announce(0, 100'000'000) + '\1' + std::string(10'000, 'x'));
        CHECK(arena.is_cut(peer));
    }
    SECTION("messages of 60 KB, again and again") {
        RawPeer peer = arena.join();
        for (int count = 0; count < 100; ++count) {
            peer.send(subscribe_3_0(std::to_string(count) + std::string(60'000, 'x')));
        }
        REQUIRE(takes_all(arena, peer));
        CHECK(arena.turn_until([&] { return arena.publisher().totals().subscriptions_refused == 100; }));
        CHECK_FALSE(peer.at_end());
    }
    SECTION("the longest allowed prefixes, until the peer's share is used up") {
        RawPeer peer = arena.join();
        constexpr std::size_t count = 3'000;
        for (std::size_t number = 0; number < count; ++number) {
            std::string topic(limits::subscription_bytes_max, 'x');
            topic.replace(0, 6, std::to_string(100'000 + number));
            peer.send(subscribe(topic));
        }
        CHECK(arena.is_cut(peer));
        CHECK(arena.publisher().totals().subscriptions_refused == 1);
    }
    CHECK(heap_in_use() < before + 10'000'000);
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 14: endless subscribing and canceling costs no memory", "[hostile]") {
    Arena arena(Victim::publisher, {}, tcp_and_ipc());
    RawPeer peer = arena.join();
    arena.publisher().set_monitor({});  // it remembers every event
    std::string churn;
    for (int number = 0; number < 1'000; ++number) {
        const std::string topic = "churn/" + std::to_string(number);
        churn += subscribe(topic) + cancel(topic);
    }
    peer.send(churn);
    REQUIRE(takes_all(arena, peer));
    arena.turn();
    const std::size_t before = heap_in_use();
    for (int round = 0; round < 40; ++round) {
        peer.send(churn);
        REQUIRE(takes_all(arena, peer));
    }
    peer.send(subscribe("churn/1") + ping("done"));
    REQUIRE(arena.gets(peer, pong("done")));
    CHECK(arena.publisher().totals().subscriptions == 2);
    CHECK(arena.publisher().totals().subscriptions_refused == 0);
    CHECK(heap_in_use() < before + 2'000'000);
    arena.publisher().send("churn/1", "payload");
    CHECK(arena.gets(peer, pong("done") + message("churn/1", "payload")));
    arena.publisher().set_monitor(arena.events.handler());
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 15: a hundred thousand subscriptions of a peer are removed at once when it disconnects",
          "[hostile]") {
    PublisherOptions options;
    options.subscriptions_per_peer_max = 200'000;
    options.subscription_bytes_per_peer_max = 16 * 1'024 * 1'024;
    Arena arena(Victim::publisher, options, tcp_and_ipc());
    RawPeer peer = arena.join();
    constexpr std::size_t count = 100'000;
    arena.publisher().set_monitor({});  // it remembers every event
    const std::size_t before = heap_in_use();
    peer.send(bomb(count, subscribe));
    REQUIRE(takes_all(arena, peer));
    REQUIRE(arena.turn_until([&] { return arena.publisher().totals().subscriptions == count + 1; }));
    const std::size_t full = heap_in_use();
    const std::clock_t begin = std::clock();
    peer.close();
    REQUIRE(arena.turn_until([&] { return arena.publisher().totals().subscriptions == 1; }));
    CHECK(std::clock() - begin < 2 * CLOCKS_PER_SEC);  // of processor time, whatever else the machine does
    CHECK(heap_in_use() <= full);
    CHECK(full < before + 20'000'000);
    arena.publisher().set_monitor(arena.events.handler());
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 21: data sent upstream to a publisher is skipped and counted", "[hostile]") {
    Arena arena(Victim::publisher, {}, tcp_and_ipc());
    RawPeer peer = arena.join();
    const std::string large(50'000, '\2');
    peer.send(subscribe("t") + frame(0, "") + frame(0, "\2x") + message("a", "b") + frame(0, large) +
              repeated(frame(0, "upstream"), 10'000));
    REQUIRE(takes_all(arena, peer));
    REQUIRE(arena.turn_until([&] { return arena.publisher().subscribers().back().received == 10'004; }));
    arena.publisher().send("t", "payload");
    CHECK(arena.gets(peer, message("t", "payload")));
    CHECK(arena.publisher().totals().subscriptions == 2);
    CHECK(arena.totals().violations == 0);
    CHECK(arena.others_are_well());
}
