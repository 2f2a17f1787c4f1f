// Tests our CURVE implementation against libzmq without our transport: a blocking socket feeds the handshake and the
// cipher.
#include "core/curve.hpp"
#include "curve_peer.hpp"
#include "support/catch.hpp"
#include "zmq_curve_socket.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace telegate;
using namespace telegate::test;
using namespace telegate::zmtp;

namespace {

using Buffer = std::vector<std::byte>;

struct Keys {
    CurveKeyPair server = make_curve_key_pair();
    CurveKeyPair client = make_curve_key_pair();
};

[[nodiscard]] HandshakeOptions client_options(const Keys& keys, SocketType type, std::string identity = {}) {
    return {type, std::move(identity), CurveClient{keys.client, keys.server.public_key}};
}
[[nodiscard]] HandshakeOptions server_options(const Keys& keys, SocketType type) {
    return {type, {}, CurveServer{keys.server, nullptr}};
}

const std::vector<std::size_t> sizes = {0, 1, 30, 31, 222, 223, 255, 256, 479, 480, 5000, 70'000};

}  // namespace

TEST_CASE("key pairs of libzmq and ours have the same format", "[interop][curve]") {
    std::array<char, 41> public_text{};
    std::array<char, 41> secret_text{};
    REQUIRE(zmq_curve_keypair(public_text.data(), secret_text.data()) == 0);
    CHECK(parse_z85(public_text.data()));
    CHECK(parse_z85(secret_text.data()));
    const CurveKeyPair ours = make_curve_key_pair();
    REQUIRE(zmq_curve_public(public_text.data(), to_z85(ours.secret_key).c_str()) == 0);
    CHECK(parse_z85(public_text.data()) == ours.public_key);
}

TEST_CASE("our CURVE client exchanges messages with libzmq's ROUTER", "[interop][curve]") {
    const Keys keys;
    ZmqCurveSocket router(ZMQ_ROUTER);
    router.be_server(keys.server);
    CurvePeer dealer(connect_to(router.bind()), client_options(keys, SocketType::dealer, "me"));
    REQUIRE(dealer.shake_hands() == Handshake::Status::done);
    CHECK(dealer.handshake().peer().socket_type == SocketType::router);
    CHECK(dealer.handshake().peer().curve_key == keys.server.public_key);
    for (const std::size_t bytes : sizes) {
        CAPTURE(bytes);
        dealer.send(frame_flag::more, as_bytes("head"));
        dealer.send(0, as_bytes(std::string(bytes, 'x')));
        REQUIRE(router.receive() == std::vector<std::string>{"me", "head", std::string(bytes, 'x')});
        router.send({"me", std::string(bytes, 'y'), "tail"});
        const Received first = dealer.receive();
        CHECK(first.text == std::string(bytes, 'y'));
        CHECK(int{first.flags} == frame_flag::more);
        CHECK(int{first.outer_flags} == 0);  // the plain text is not visible on the wire
        const Received second = dealer.receive();
        CHECK(second.text == "tail");
        CHECK(int{second.flags} == 0);
    }
}

TEST_CASE("our CURVE server exchanges messages with libzmq's DEALER", "[interop][curve]") {
    const Keys keys;
    const Listening listening;
    ZmqCurveSocket dealer(ZMQ_DEALER);
    dealer.be_client(keys.client, keys.server.public_key);
    dealer.set(ZMQ_ROUTING_ID, "you");
    dealer.connect(listening.port);
    CurvePeer router(listening.accept(), server_options(keys, SocketType::router));
    REQUIRE(router.shake_hands() == Handshake::Status::done);
    CHECK(router.handshake().peer().identity == "you");
    CHECK(router.handshake().peer().curve_key == keys.client.public_key);
    for (const std::size_t bytes : sizes) {
        CAPTURE(bytes);
        router.send(frame_flag::more, as_bytes(std::string(bytes, 'x')));
        router.send(0, as_bytes("tail"));
        REQUIRE(dealer.receive() == std::vector<std::string>{std::string(bytes, 'x'), "tail"});
        dealer.send({std::string(bytes, 'y')});
        const Received received = router.receive();
        CHECK(received.text == std::string(bytes, 'y'));
        CHECK(int{received.flags} == 0);
    }
}

TEST_CASE(
    "our CURVE subscriber gets its subscriptions from libzmq's PUB, with both forms of "
    "subscribing",
    "[interop][curve]") {
    const std::uint8_t minor = GENERATE(std::uint8_t{0}, std::uint8_t{1});
    const Keys keys;
    ZmqCurveSocket pub(ZMQ_XPUB);  // reports when a subscription has arrived
    pub.be_server(keys.server);
    CurvePeer sub(connect_to(pub.bind()), client_options(keys, SocketType::sub));
    REQUIRE(sub.shake_hands() == Handshake::Status::done);
    Buffer subscribe;
    append_subscription(subscribe, minor, {Subscription::Kind::subscribe, as_bytes("boiler/")});
    sub.send_frame(subscribe);
    REQUIRE(pub.receive() == std::vector<std::string>{"\x01"
                                                      "boiler/"});
    pub.send({"pump/1", "no"});
    pub.send({"boiler/1", "yes"});
    CHECK(sub.receive().text == "boiler/1");
    CHECK(sub.receive().text == "yes");
    Buffer cancel;
    append_subscription(cancel, minor, {Subscription::Kind::cancel, as_bytes("boiler/")});
    sub.send_frame(cancel);
    CHECK(pub.receive() == std::vector<std::string>{std::string("\0boiler/", 8)});
}

TEST_CASE("libzmq's SUB subscribes to our CURVE publisher by command and gets its messages", "[interop][curve]") {
    const Keys keys;
    const Listening listening;
    ZmqCurveSocket sub(ZMQ_SUB);
    sub.be_client(keys.client, keys.server.public_key);
    sub.set(ZMQ_SUBSCRIBE, "boiler/");
    sub.connect(listening.port);
    CurvePeer pub(listening.accept(), server_options(keys, SocketType::pub));
    REQUIRE(pub.shake_hands() == Handshake::Status::done);
    const Received asked = pub.receive();
    CHECK(int{asked.flags} == frame_flag::command);
    const auto subscription = parse_subscription(Frame{asked.flags, as_bytes(asked.text)});
    REQUIRE(subscription);
    CHECK(as_text(subscription->prefix) == "boiler/");
    pub.send(frame_flag::more, as_bytes("boiler/1"));
    pub.send(0, as_bytes("yes"));
    CHECK(sub.receive() == std::vector<std::string>{"boiler/1", "yes"});
}

TEST_CASE("PING and PONG are exchanged by libzmq and ours inside CURVE", "[interop][curve]") {
    const Keys keys;
    ZmqCurveSocket router(ZMQ_ROUTER);
    router.be_server(keys.server);
    router.set(ZMQ_HEARTBEAT_IVL, 50);
    CurvePeer dealer(connect_to(router.bind()), client_options(keys, SocketType::dealer, "me"));
    REQUIRE(dealer.shake_hands() == Handshake::Status::done);

    const Received theirs = dealer.receive();
    CHECK(int{theirs.flags} == frame_flag::command);
    const auto command = parse_command(as_bytes(theirs.text));
    REQUIRE(command);
    CHECK(command->name == "PING");
    REQUIRE(parse_ping(command->data));
    Buffer pong;
    append_pong(pong, parse_ping(command->data)->context);
    dealer.send_frame(pong);

    Buffer ping;
    append_ping(ping, 100, as_bytes("context"));
    dealer.send_frame(ping);
    std::string answer = "\x04PING";
    while (answer.starts_with("\x04PING")) {
        answer = dealer.receive().text;
    }
    CHECK(answer == "\x04PONGcontext");
}

TEST_CASE("ours refuses a libzmq client with the wrong server key", "[interop][curve]") {
    const Keys keys;
    const Listening listening;
    ZmqCurveSocket dealer(ZMQ_DEALER);
    dealer.be_client(keys.client, keys.client.public_key);
    dealer.connect(listening.port);
    CurvePeer router(listening.accept(), server_options(keys, SocketType::router));
    CHECK(router.shake_hands() == Handshake::Status::violation);
    CHECK(router.handshake().fault() == "cannot decrypt HELLO: made for a different server key");
}

TEST_CASE("libzmq closes the connection of our client with the wrong server key", "[interop][curve]") {
    Keys keys;
    ZmqCurveSocket router(ZMQ_ROUTER);
    router.be_server(keys.server);
    keys.server = make_curve_key_pair();
    CurvePeer dealer(connect_to(router.bind()), client_options(keys, SocketType::dealer));
    CHECK(dealer.shake_hands() == Handshake::Status::need_more);
}

TEST_CASE("ours recognizes whether libzmq accepts or refuses it", "[interop][curve]") {
    const bool allowed = GENERATE(true, false);
    const Keys keys;
    ZmqCurveSocket router(ZMQ_ROUTER);
    router.be_server(keys.server);
    router.open_zap();
    CurvePeer dealer(connect_to(router.bind()), client_options(keys, SocketType::dealer));
    std::thread zap([&router, allowed] { router.answer_zap(allowed ? "200" : "400"); });
    const Handshake::Status status = dealer.shake_hands();
    zap.join();
    CHECK(status == (allowed ? Handshake::Status::done : Handshake::Status::violation));
    CHECK(dealer.handshake().fault() == (allowed ? "" : "peer sent ERROR"));
}

TEST_CASE("NULL and CURVE peers refuse each other across libraries", "[interop][curve]") {
    const Keys keys;
    const Listening listening;
    ZmqCurveSocket dealer(ZMQ_DEALER);
    dealer.connect(listening.port);
    CurvePeer router(listening.accept(), server_options(keys, SocketType::router));
    // The peer that sees the other's mechanism first closes; libzmq often does so before it has sent its own.
    CHECK(router.shake_hands() != Handshake::Status::done);
}
