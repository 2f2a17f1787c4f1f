// Peers that attack a socket under CURVE, together with a peer that has the right keys.
#include "hostile/arena.hpp"
#include "zmtp/handshake.hpp"

using namespace telegate;
using namespace telegate::test;
using namespace std::chrono_literals;
using Kind = MonitorEventKind;

namespace {

/// A publisher under CURVE and a subscriber with valid keys.
class CurveBench : public Bench {
  public:
    explicit CurveBench(PublisherOptions options, Transport transport)
        : publisher(reactor, with_keys(std::move(options))), good(reactor, client_options()) {
        publisher.set_monitor(events.handler());
        endpoint =
            publisher.bind(transport == Transport::tcp ? Endpoint{Transport::tcp, "127.0.0.1", 0, {}}
                                                       : Endpoint{Transport::ipc, {}, 0, scratch.path("socket")});
        good.subscribe("");
        good.connect(endpoint);
        REQUIRE(Bench::turn_until([&] { return publisher.totals().subscriptions == 1; }));
    }

    void publish() { publisher.send("number", std::to_string(published++)); }
    bool good_lost_nothing() {
        publish();
        const bool all = Bench::turn_until([&] { return inbox.receive() == published; });
        for (std::size_t number = 0; number < inbox.messages.size(); ++number) {
            if (inbox.messages[number].at(1) != std::to_string(number)) {
                return false;
            }
        }
        return all && publisher.subscribers().size() == 1;
    }
    bool is_cut(RawPeer& peer) {
        return Bench::turn_until([&] {
            publish();
            inbox.receive();
            peer.read();
            return peer.at_end();
        });
    }

    [[nodiscard]] CurveClient client() const { return {make_curve_key_pair(), server_keys.public_key}; }

    MonitorLog events;
    CurveKeyPair server_keys = make_curve_key_pair();
    Publisher publisher;
    Subscriber good;
    Inbox<Subscriber> inbox{good};
    Endpoint endpoint;
    std::size_t published = 0;

  private:
    PublisherOptions with_keys(PublisherOptions options) const {
        options.security = CurveServer{server_keys, {}};
        return options;
    }
    SocketOptions client_options() const {
        SocketOptions options;
        options.security = client();
        return options;
    }
};

/// A malicious subscriber with valid keys, which can seal anything.
class Insider {
  public:
    explicit Insider(CurveBench& bench)
        : peer(bench.endpoint), handshake_({zmtp::SocketType::sub, "", Security(bench.client())}) {
        REQUIRE(bench.turn_until([&] {
            const std::vector<std::byte> output = handshake_.take_output();
            peer.send(as_text(output));
            const std::string& all = peer.read();
            Bytes input = as_bytes(std::string_view(all).substr(fed_));
            const zmtp::Handshake::Status status = handshake_.feed(input);
            fed_ = all.size() - input.size();
            return status == zmtp::Handshake::Status::done;
        }));
        cipher_ = handshake_.take_cipher();
    }

    [[nodiscard]] std::string sealed(unsigned flags, std::string_view payload) {
        std::vector<std::byte> out(zmtp::CurveCipher::sealed_bytes(payload.size()));
        cipher_->seal(out.data(), static_cast<std::uint8_t>(flags), as_bytes(payload));
        return std::string(as_text(out));
    }

    RawPeer peer;

  private:
    zmtp::Handshake handshake_;
    std::size_t fed_ = 0;
    std::unique_ptr<zmtp::CurveCipher> cipher_;
};

std::string curve_greeting() {
    return greeting().replace(12, 5, "CURVE");
}

std::string hello_of(char filling, std::size_t bytes = 194, std::string_view version = std::string_view("\1\0", 2)) {
    return command("HELLO", std::string(version) + std::string(bytes - 2, filling));
}

}  // namespace

TEST_CASE("hostile CURVE: invalid handshakes are closed without a reply, and a valid one is served", "[hostile]") {
    const Transport transport = tcp_and_ipc();
    const auto [what, bytes] = GENERATE(table<std::string, std::string>({
        {"NULL", greeting() + ready("SUB")},
        {"READY for HELLO", curve_greeting() + ready("SUB")},
        {"a subscription for HELLO", curve_greeting() + subscribe("")},
        {"a message for HELLO", curve_greeting() + frame(0, std::string(200, 'x'))},
        {"MESSAGE for HELLO", curve_greeting() + frame(0, "\7MESSAGE" + std::string(100, 'x'))},
        {"HELLO of zeros", curve_greeting() + hello_of('\0')},
        {"HELLO of ones", curve_greeting() + hello_of('\1')},
        {"HELLO too short", curve_greeting() + hello_of('x', 193)},
        {"HELLO too long", curve_greeting() + hello_of('x', 195)},
        {"HELLO of another version", curve_greeting() + hello_of('x', 194, "\2\0")},
        {"INITIATE for HELLO", curve_greeting() + command("INITIATE", std::string(300, 'x'))},
        {"INITIATE of 1 MB", curve_greeting() + announce(4, 1'000'000)},
        {"WELCOME from a client", curve_greeting() + command("WELCOME", std::string(160, 'x'))},
        {"ERROR from a client", curve_greeting() + command("ERROR", std::string(1, '\0'))},
    }));
    CAPTURE(what);
    CurveBench bench({}, transport);
    RawPeer peer(bench.endpoint);
    peer.send(bytes);
    CHECK(bench.is_cut(peer));
    CHECK(peer.received().size() == 64);
    CHECK(peer.received().find("ERROR") == std::string::npos);
    CHECK(bench.publisher.totals().handshakes_failed == 1);
    CHECK_FALSE(bench.events.detail(Kind::handshake_failed).empty());
    CHECK(bench.good_lost_nothing());
}

TEST_CASE("hostile CURVE: silent connections do not block peers with valid keys", "[hostile]") {
    PublisherOptions options;
    options.handshake_time_max = 200ms;
    CurveBench bench(options, tcp_and_ipc());
    std::vector<RawPeer> silent;
    for (int count = 0; count < 50; ++count) {
        silent.emplace_back(bench.endpoint);
        silent.back().send(count % 2 == 0 ? curve_greeting() : std::string());
    }
    SocketOptions late_options;
    late_options.security = bench.client();
    {
        Subscriber late(bench.reactor, late_options);
        late.subscribe("number");
        late.connect(bench.endpoint);
        CHECK(bench.turn_until([&] { return bench.publisher.totals().subscriptions == 2; }));
    }
    for (RawPeer& peer : silent) {
        CHECK(bench.is_cut(peer));
    }
    CHECK(bench.turn_until([&] { return bench.publisher.subscribers().size() == 1; }));
    CHECK(bench.good_lost_nothing());
}

TEST_CASE("hostile CURVE: after the handshake, frames that are not sealed correctly end the session", "[hostile]") {
    CurveBench bench({}, tcp_and_ipc());
    Insider insider(bench);
    const std::string first = insider.sealed(4, "\x09SUBSCRIBEt");
    const std::string second = insider.sealed(4, "\x09SUBSCRIBEu");
    std::string flipped = first;
    flipped[40] = static_cast<char>(flipped[40] ^ 1);
    const auto [what, bytes] = GENERATE_REF(table<std::string, std::string>({
        {"in clear", subscribe("t")},
        {"a subscription of 3.0 in clear", subscribe_3_0("t")},
        {"noise", frame(0, "\7MESSAGE" + std::string(100, 'x'))},
        {"too short", frame(0, "\7MESSAGE")},
        {"empty", frame(0, "")},
        {"a flipped bit", flipped},
        {"a replay", first + first},
        {"out of order", second + first},
        {"with MORE outside", "\1" + first.substr(1)},
        {"larger than allowed", announce(0, 1'000'000)},
        {"an empty command", insider.sealed(4, "")},
        {"a PING that is too short", insider.sealed(4, "\4PING")},
        {"a command of 10 KB", insider.sealed(4, "\1X" + std::string(10'000, 'x'))},
    }));
    CAPTURE(what);
    insider.peer.send(bytes);
    CHECK(bench.is_cut(insider.peer));
    CHECK(bench.publisher.totals().violations == 1);
    CHECK(bench.publisher.totals().handshakes_failed == 0);
    CHECK(bench.turn_until([&] { return bench.publisher.totals().subscriptions == 1; }));
    CHECK(bench.good_lost_nothing());
}

TEST_CASE("hostile CURVE: a flood of sealed commands is skipped like any other", "[hostile]") {
    CurveBench bench({}, tcp_and_ipc());
    Insider insider(bench);
    for (int count = 0; count < 20'000; ++count) {
        insider.peer.send(insider.sealed(4, "\1X"));
        bench.publish();
        bench.inbox.receive();
    }
    insider.peer.send(insider.sealed(4, "\x09SUBSCRIBEafter"));
    CHECK(bench.turn_until([&] {
        insider.peer.send();
        return bench.publisher.totals().subscriptions == 2;
    }));
    insider.peer.close();
    CHECK(bench.turn_until([&] { return bench.publisher.subscribers().size() == 1; }));
    CHECK(bench.good_lost_nothing());
}
