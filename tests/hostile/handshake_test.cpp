// Hostile peers 3 to 9: those that never complete the handshake.
#include "hostile/arena.hpp"

#include <random>

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using Kind = MonitorEventKind;

namespace {

struct Attack {
    std::string what;
    std::string bytes;
};

PublisherOptions with_handshake_time(std::chrono::milliseconds time) {
    PublisherOptions options;
    options.handshake_time_max = time;
    return options;
}

/// Sends `attack` and requires that the connection is closed, that nothing is sent beyond the handshake, and that all
/// other peers are unaffected.
void check_refused(const Attack& attack, Victim victim, Transport transport) {
    CAPTURE(attack.what, victim, static_cast<int>(transport));
    Arena arena(victim, {}, transport);
    RawPeer peer = arena.connect();
    peer.send(attack.bytes);
    CHECK(arena.is_cut(peer));
    CHECK(arena.hello().starts_with(peer.received()));
    CHECK(arena.totals().handshakes_failed == 1);
    CHECK(arena.events.count(Kind::handshake_failed) == 1);
    CHECK_FALSE(arena.events.detail(Kind::handshake_failed).empty());
    CHECK(arena.peers().size() == 1);
    CHECK(arena.received().empty());
    CHECK(arena.others_are_well());
}

void check_all_refused(const std::vector<Attack>& attacks) {
    const Victim victim = each_victim();
    const Transport transport = tcp_and_ipc();
    for (const Attack& attack : attacks) {
        check_refused(attack, victim, transport);
    }
}

std::string noise(std::size_t bytes) {
    std::mt19937 random(12'345);
    std::string out(bytes, '\0');
    for (char& byte : out) {
        byte = static_cast<char>(random() & 0xFFU);
    }
    return out;
}

}  // namespace

TEST_CASE("hostile 3: a greeting that arrives slowly does not extend the handshake timeout", "[hostile]") {
    Arena arena(each_victim(), with_handshake_time(100ms), tcp_and_ipc());
    RawPeer peer = arena.connect();
    const auto begin = std::chrono::steady_clock::now();
    std::size_t sent = 0;
    CHECK(arena.turn_until([&] {
        const auto due = static_cast<std::size_t>((std::chrono::steady_clock::now() - begin) / 10ms);
        while (sent < due && sent < 60) {
            peer.send(greeting().substr(sent++, 1));
        }
        peer.read();
        return peer.at_end();
    }));
    CHECK(sent < 60);
    CHECK(std::chrono::steady_clock::now() - begin >= 100ms);
    CHECK(arena.totals().handshakes_failed == 1);
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 3: a READY that arrives slowly does not extend it either", "[hostile]") {
    Arena arena(each_victim(), with_handshake_time(100ms), tcp_and_ipc());
    RawPeer peer = arena.connect();
    peer.send(greeting() + announce(4, 5'000));
    CHECK(arena.turn_until([&] {
        peer.send("\5");
        peer.read();
        return peer.at_end();
    }));
    CHECK(arena.totals().handshakes_failed == 1);
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 4: a connection that sends nothing is closed after the handshake timeout", "[hostile]") {
    Arena arena(each_victim(), with_handshake_time(50ms), tcp_and_ipc());
    const std::string said = GENERATE("", "\xFF", "greeting");
    RawPeer peer = arena.connect();
    peer.send(said == "greeting" ? greeting() : said);
    CHECK(arena.is_cut(peer));
    CHECK(arena.totals().handshakes_failed == 1);
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 4: a finished handshake is not ended by the handshake timeout", "[hostile]") {
    Arena arena(each_victim(), with_handshake_time(50ms), tcp_and_ipc());
    RawPeer silent = arena.connect();
    RawPeer member = arena.join("member");
    CHECK(arena.is_cut(silent));
    RawPeer later = arena.connect();
    CHECK(arena.is_cut(later));
    CHECK(arena.peers().size() == 2);
    member.send(ping("still here"));
    CHECK(arena.gets(member, pong("still here")));
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 4: silent connections are closed in favor of new ones, the oldest first", "[hostile]") {
    const bool per_address = GENERATE(true, false);
    PublisherOptions options;
    options.handshakes_max = per_address ? 100 : 8;
    options.handshakes_per_address_max = per_address ? 8 : 100;
    Arena arena(each_victim(), options, per_address ? Transport::tcp : tcp_and_ipc());
    std::vector<RawPeer> silent;
    for (int count = 0; count < 20; ++count) {
        silent.push_back(arena.connect());
        arena.turn();
    }
    REQUIRE(arena.turn_until([&] { return arena.totals().connections_accepted == 21; }));
    for (std::size_t index = 0; index < 12; ++index) {
        CHECK(arena.is_cut(silent[index]));
    }
    for (std::size_t index = 12; index < 20; ++index) {
        silent[index].read();
        CHECK_FALSE(silent[index].at_end());
    }
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 4: when well-behaved peers use all connections, a new connection is refused", "[hostile]") {
    PublisherOptions options;
    options.sessions_max = 4;
    Arena arena(each_victim(), options, tcp_and_ipc());
    std::vector<RawPeer> members;
    for (int count = 0; count < 3; ++count) {
        members.push_back(arena.join("member " + std::to_string(count)));
    }
    for (int count = 0; count < 10; ++count) {
        RawPeer late = arena.connect();
        CHECK(arena.is_cut(late));
    }
    CHECK(arena.totals().connections_refused == 10);
    CHECK(arena.events.count(Kind::refused) == 10);
    for (RawPeer& member : members) {
        member.read();
        CHECK_FALSE(member.at_end());
    }
    members.pop_back();
    REQUIRE(arena.turn_until([&] { return arena.peers().size() == 3; }));
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 5: bytes of other protocols are not a greeting", "[hostile]") {
    check_all_refused({
        {"HTTP", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"},
        {"TLS", "\x16\x03\x01\x02" + std::string(100, '\1')},
        {"telnet", "\xFF\xFD\x03\xFF\xFB\x18\xFF\xFB\x1F\xFF\xFB\x20\xFF\xFB\x21"},
        {"SSH", "SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n"},
        {"a long text", std::string(200'000, 'x')},
        {"zeros", std::string(1'000, '\0')},
        {"noise", noise(100'000)},
        {"noise after 0xFF", "\xFF" + noise(100'000)},
    });
}

TEST_CASE("hostile 6: a wrong signature and the versions before 3 are refused", "[hostile]") {
    const std::string signature = greeting().substr(0, 10);
    check_all_refused({
        {"first byte", greeting_with(0, "\xFE")},
        {"last byte of the signature even", greeting_with(9, "\x7E")},
        {"last byte of the signature zero", greeting_with(9, std::string_view("\0", 1))},
        {"unversioned ZMTP 1", std::string("\1\0", 2)},
        {"ZMTP 1", signature + '\0'},
        {"ZMTP 2", signature + "\1\5" + std::string(52, '\0')},
        {"version 2, which does not exist", signature + "\2\0" + std::string(52, '\0')},
    });
}

TEST_CASE("hostile 7: a mechanism that does not match ours in all twenty bytes is refused", "[hostile]") {
    check_all_refused({
        {"CURVE", greeting_with(12, "CURVE")},
        {"PLAIN", greeting_with(12, "PLAIN")},
        {"GSSAPI", greeting_with(12, "GSSAPI")},
        {"lower case", greeting_with(12, "null")},
        {"a byte after NULL", greeting_with(12, "NULLX")},
        {"a byte in the last place", greeting_with(31, "X")},
        {"blanks instead of zeros", greeting_with(12, "NULL                ")},
        {"no name", greeting_with(12, std::string(4, '\0'))},
    });
}

TEST_CASE("hostile 8: an invalid READY is refused", "[hostile]") {
    const Victim victim = each_victim();
    const Transport transport = tcp_and_ipc();
    const std::string type = property("Socket-Type", peer_type_of(victim));
    std::string many = type;
    for (int index = 0; index < 255; ++index) {
        many += property("X-" + std::to_string(index), "");
    }
    const std::vector<Attack> attacks = {
        {"no properties", ""},
        {"a truncated name", "\x0BSocket"},
        {"a truncated value length", "\x0BSocket-Type" + std::string(3, '\0')},
        {"a truncated value", "\x0BSocket-Type" + big_endian(9, 4) + "SUB"},
        {"a value of 4 GB", "\x0BSocket-Type" + big_endian(0xFFFF'FFFF, 4) + "SUB"},
        {"a property without a name", std::string(1, '\0') + big_endian(3, 4) + "SUB"},
        {"a property without a name after a valid one", type + std::string(5, '\0')},
        {"255 properties", many},
        {"a duplicate type", type + type},
        {"a duplicate type in different case", type + property("SOCKET-TYPE", peer_type_of(victim))},
        {"a duplicate identity", type + property("Identity", "a") + property("identity", "a")},
        {"an identity of 256 bytes", type + property("Identity", std::string(256, 'x'))},
        {"an identity of 4 GB", type + "\x08Identity" + big_endian(0xFFFF'FFFF, 4)},
        {"an unknown type", property("Socket-Type", "NONSENSE")},
        {"a type in lower case", property("Socket-Type", "sub")},
        {"an empty type", property("Socket-Type", "")},
        {"a type that is not compatible with ours", property("Socket-Type", "PULL")},
        {"9 KiB of properties", type + std::string(9 * 1'024, 'x')},
    };
    for (const Attack& attack : attacks) {
        check_refused({attack.what, greeting() + command("READY", attack.bytes)}, victim, transport);
    }
    check_refused({"an announced READY of 1 MB", greeting() + announce(4, 1'000'000)}, victim, transport);
    check_refused({"an announced READY of 2^63 bytes", greeting() + announce(4, 1ULL << 63U)}, victim, transport);
}

TEST_CASE("hostile 9: READY must come first, and once", "[hostile]") {
    const Victim victim = each_victim();
    const Transport transport = tcp_and_ipc();
    const std::string good = ready(peer_type_of(victim));
    const std::vector<Attack> attacks = {
        {"PING before READY", ping("") + good},
        {"SUBSCRIBE before READY", subscribe("") + good},
        {"a subscription of 3.0 before READY", subscribe_3_0("") + good},
        {"a message before READY", message("topic", "payload") + good},
        {"ERROR for READY", command("ERROR", "\3bye")},
        {"HELLO for READY", command("HELLO", std::string(192, 'x'))},
        {"a READY that is not a command", frame(0, good.substr(2))},
        {"a READY with MORE", frame(5, good.substr(2))},
        {"a READY with a reserved bit", frame(12, good.substr(2))},
        {"a name longer than its frame", frame(4, "\x20READY")},
        {"an empty command", frame(4, "")},
    };
    for (const Attack& attack : attacks) {
        check_refused({attack.what, greeting() + attack.bytes}, victim, transport);
    }

    Arena arena(victim, {}, transport);
    RawPeer peer = arena.join("twice");
    peer.send(arena.peer_ready("twice"));
    CHECK(arena.is_cut(peer));
    CHECK(peer.received() == arena.hello());
    CHECK(arena.totals().handshakes_failed == 0);
    CHECK(arena.totals().violations == 1);
    CHECK(arena.others_are_well());
}

TEST_CASE("hostile 9: a peer that disconnects in the middle of the handshake is forgotten", "[hostile]") {
    Arena arena(each_victim(), {}, tcp_and_ipc());
    const std::string bytes = greeting() + arena.peer_ready("leaver");
    for (std::size_t sent = 0; sent < bytes.size(); sent += 7) {
        RawPeer peer = arena.connect();
        peer.send(std::string_view(bytes).substr(0, sent));
        arena.turn();
    }
    CHECK(arena.turn_until([&] { return arena.totals().handshakes_failed == (bytes.size() + 6) / 7; }));
    CHECK(arena.peers().size() == 1);
    CHECK(arena.others_are_well());
}
