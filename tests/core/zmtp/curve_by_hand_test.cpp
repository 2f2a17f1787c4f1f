// A CURVE client built by hand, which can do what our client never does.
#include "base/sodium.hpp"
#include "core/zmtp/curve_pair.hpp"
#include "core/zmtp/wire_bytes.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <array>

using namespace telegate;
using namespace telegate::zmtp;
using namespace telegate::zmtp::test;

namespace {

using Status = Handshake::Status;

[[nodiscard]] Buffer number(int value) {
    return wire(Buffer(7), value);
}

[[nodiscard]] Buffer box(const CurveKey& shared, const Buffer& nonce, const Buffer& text) {
    Buffer out(crypto_box_MACBYTES + text.size());
    REQUIRE(nonce.size() == crypto_box_NONCEBYTES);
    REQUIRE(::crypto_box_easy_afternm(octets(out.data()), octets(text.data()), text.size(), octets(nonce.data()),
                                      octets(shared.data())) == 0);
    return out;
}

[[nodiscard]] CurveKey agreed(const CurveKey& public_key, const CurveKey& secret_key) {
    CurveKey shared{};
    REQUIRE(::crypto_box_beforenm(octets(shared.data()), octets(public_key.data()), octets(secret_key.data())) == 0);
    return shared;
}

class HandMadeClient {
  public:
    HandMadeClient() { server_.hear(wire(make_greeting("CURVE", false))); }

    void hello(int nonce, const Buffer& text) {
        const CurveKey shared = agreed(server_keys().public_key, transient_.secret_key);
        (void)server_.say();
        server_.hear(wire(0x04, 200, 5, "HELLO", 1, 0, Buffer(72), transient_.public_key, number(nonce),
                          box(shared, wire("CurveZMQHELLO---", number(nonce)), text)));
        const Buffer welcome = server_.say();
        if (welcome.empty()) {
            return;
        }
        const Bytes data = Bytes(welcome).subspan(2 + 8);
        const Buffer long_nonce = wire("WELCOME-", data.first(16));
        Buffer opened(32 + 96);
        REQUIRE(::crypto_box_open_easy_afternm(octets(opened.data()), octets(data.data() + 16), data.size() - 16,
                                               octets(long_nonce.data()), octets(shared.data())) == 0);
        std::copy_n(opened.begin(), 32, server_transient_.begin());
        cookie_.assign(opened.begin() + 32, opened.end());
        shared_ = agreed(server_transient_, transient_.secret_key);
    }

    void initiate(int nonce) {
        const Buffer vouch_nonce(16, std::byte{7});
        const Buffer vouch = box(agreed(server_transient_, client_keys().secret_key), wire("VOUCH---", vouch_nonce),
                                 wire(transient_.public_key, server_keys().public_key));
        const Buffer metadata = wire(0x0B, "Socket-Type", 0, 0, 0, 6, "DEALER");
        const Buffer data = wire(8, "INITIATE", cookie_, number(nonce),
                                 box(shared_, wire("CurveZMQINITIATE", number(nonce)),
                                     wire(client_keys().public_key, vouch_nonce, vouch, metadata)));
        server_.hear(wire(0x06, Buffer(6), 1, static_cast<int>(data.size() - 256), data));
        cipher_ = server_.handshake->take_cipher();
    }

    /// Returns the server's result for a MESSAGE whose box holds `text`.
    [[nodiscard]] OpenedFrame message(int nonce, const Buffer& text) {
        body_ = wire(7, "MESSAGE", number(nonce), box(shared_, wire("CurveZMQMESSAGEC", number(nonce)), text));
        return cipher_->open(body_);
    }

    [[nodiscard]] const CurveSide& server() const { return server_; }

  private:
    CurveSide server_{curve_server()};
    const CurveKeyPair transient_ = make_curve_key_pair();
    CurveKey server_transient_{};
    CurveKey shared_{};
    Buffer cookie_;
    std::unique_ptr<CurveCipher> cipher_;
    Buffer body_;
};

/// Returns a client after a valid handshake that used the nonces 1 and 5.
[[nodiscard]] HandMadeClient client_let_in() {
    HandMadeClient client;
    client.hello(1, Buffer(64));
    client.initiate(5);
    REQUIRE(client.server().status == Status::done);
    return client;
}

}  // namespace

TEST_CASE("a CURVE client built by hand is accepted", "[core][zmtp][curve]") {
    HandMadeClient client = client_let_in();
    CHECK(client.server().handshake->peer().curve_key == client_keys().public_key);
    const OpenedFrame opened = client.message(6, wire(1, "abc"));
    REQUIRE(opened.ok);
    CHECK(int{opened.flags} == frame_flag::more);
    CHECK(text(opened.payload) == "abc");
}

TEST_CASE("HELLO's box must hold only zeros", "[core][zmtp][curve]") {
    HandMadeClient client;
    client.hello(1, wire(Buffer(63), 1));
    CHECK(client.server().fault() == "cannot decrypt HELLO: made for a different server key");
}

TEST_CASE("the nonce of INITIATE must be above HELLO's", "[core][zmtp][curve]") {
    const auto [nonce, fault] = GENERATE(table<int, std::string>({{2, "INITIATE with a nonce that does not increase"},
                                                                  {3, "INITIATE with a nonce that does not increase"},
                                                                  {4, ""}}));
    CAPTURE(nonce);
    HandMadeClient client;
    client.hello(3, Buffer(64));
    client.initiate(nonce);
    CHECK(client.server().fault() == fault);
}

TEST_CASE("the nonce of the first MESSAGE must be above INITIATE's", "[core][zmtp][curve]") {
    HandMadeClient client = client_let_in();
    CHECK_FALSE(client.message(4, wire(0, "abc")).ok);
    CHECK_FALSE(client.message(5, wire(0, "abc")).ok);
    CHECK(client.message(6, wire(0, "abc")).ok);
}

TEST_CASE("a MESSAGE with inner flags that no peer may send does not open", "[core][zmtp][curve]") {
    const int flags = GENERATE(3, 4, 8, 0x80, 0xFF);
    CAPTURE(flags);
    HandMadeClient client = client_let_in();
    CHECK_FALSE(client.message(6, wire(flags, "abc")).ok);
    CHECK_FALSE(client.message(7, Buffer()).ok);
}
