#include "zmtp/curve.hpp"
#include "core/zmtp/curve_pair.hpp"
#include "core/zmtp/wire_bytes.hpp"
#include "support/catch.hpp"

using namespace telegate;
using namespace telegate::zmtp;
using namespace telegate::zmtp::test;

namespace {

[[nodiscard]] CurveKey counting_key() {
    CurveKey key{};
    std::byte next{0};
    for (std::byte& byte : key) {
        byte = next;
        next = static_cast<std::byte>(std::to_integer<int>(next) + 1);
    }
    return key;
}

/// The two ends of a connection.
struct Ends {
    CurveCipher client{counting_key(), false, 2, 1};
    CurveCipher server{counting_key(), true, 1, 2};
};

[[nodiscard]] Buffer sealed(CurveCipher& cipher, std::uint8_t flags, Bytes payload) {
    Buffer frame(CurveCipher::sealed_bytes(payload.size()));
    CHECK(cipher.seal(frame.data(), flags, payload) == frame.size());
    return frame;
}

/// Returns the body without the frame's header.
[[nodiscard]] Buffer sealed_body(CurveCipher& cipher, std::uint8_t flags, Bytes payload) {
    const Buffer frame = sealed(cipher, flags, payload);
    const bool is_long = frame[0] == std::byte{frame_flag::long_size};
    return {frame.begin() + (is_long ? frame_header_bytes_max : 2), frame.end()};
}

[[nodiscard]] Buffer pattern(std::size_t bytes) {
    Buffer out(bytes);
    for (std::size_t i = 0; i < bytes; ++i) {
        out[i] = static_cast<std::byte>(i * 7);
    }
    return out;
}

}  // namespace

TEST_CASE("a sealed frame is an ordinary frame that holds MESSAGE and a counted nonce", "[core][zmtp][curve]") {
    Ends ends;
    const Buffer frame = sealed(ends.client, 0, as_bytes("abc"));
    CHECK(hex(Bytes(frame).first(18)) == hex(wire(0x00, 36, 7, "MESSAGE", 0, 0, 0, 0, 0, 0, 0, 3)));
    const Buffer next = sealed(ends.client, frame_flag::more, as_bytes("abc"));
    CHECK(hex(Bytes(next).first(18)) == hex(wire(0x00, 36, 7, "MESSAGE", 0, 0, 0, 0, 0, 0, 0, 4)));
    const Buffer large = sealed(ends.client, frame_flag::command, Buffer(300));
    CHECK(hex(Bytes(large).first(9)) == hex(wire(0x02, 0, 0, 0, 0, 0, 0, 1, 333 - 256)));
}

TEST_CASE("a frame sealed at one end opens at the other, with any size and its flags", "[core][zmtp][curve]") {
    Ends ends;
    const std::uint8_t flags = GENERATE(std::uint8_t{0}, frame_flag::more, frame_flag::command);
    for (const std::size_t bytes : {0U, 1U, 30U, 31U, 32U, 64U, 222U, 223U, 478U, 479U, 480U, 481U, 1000U, 70000U}) {
        CAPTURE(flags, bytes);
        Buffer body = sealed_body(ends.client, flags, pattern(bytes));
        const OpenedFrame at_server = ends.server.open(body);
        REQUIRE(at_server.ok);
        REQUIRE(at_server.flags == flags);
        REQUIRE(hex(at_server.payload) == hex(pattern(bytes)));
        body = sealed_body(ends.server, flags, pattern(bytes));
        const OpenedFrame at_client = ends.client.open(body);
        REQUIRE(at_client.ok);
        REQUIRE(hex(at_client.payload) == hex(pattern(bytes)));
    }
}

TEST_CASE("an opened payload is inside the body", "[core][zmtp][curve]") {
    Ends ends;
    Buffer body = sealed_body(ends.client, 0, as_bytes("abc"));
    CHECK(ends.server.open(body).payload.data() == body.data() + 33);
}

TEST_CASE("a MESSAGE opens only once", "[core][zmtp][curve]") {
    Ends ends;
    const Buffer first = sealed_body(ends.client, 0, as_bytes("a"));
    const Buffer second = sealed_body(ends.client, 0, as_bytes("b"));
    Buffer body = second;
    REQUIRE(ends.server.open(body).ok);
    body = second;
    CHECK_FALSE(ends.server.open(body).ok);
    body = first;
    CHECK_FALSE(ends.server.open(body).ok);
    body = sealed_body(ends.client, 0, as_bytes("c"));
    CHECK(ends.server.open(body).ok);
}

TEST_CASE("a MESSAGE does not open at the end that sealed it", "[core][zmtp][curve]") {
    Ends ends;
    Buffer body = sealed_body(ends.client, 0, as_bytes("a"));
    CHECK_FALSE(ends.client.open(body).ok);
}

TEST_CASE("no bit of a MESSAGE can be flipped, and the nonce does not advance", "[core][zmtp][curve]") {
    Ends ends;
    const Buffer good = sealed_body(ends.client, 0, as_bytes("a payload of some length, over one block in all"));
    for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
        CAPTURE(bit / 8, bit % 8);
        Buffer body = good;
        body[bit / 8] ^= std::byte{1} << (bit % 8);
        REQUIRE_FALSE(ends.server.open(body).ok);
    }
    Buffer body = good;
    CHECK(ends.server.open(body).ok);
}

TEST_CASE("a MESSAGE truncated at any byte does not open", "[core][zmtp][curve]") {
    Ends ends;
    const Buffer good = sealed_body(ends.client, 0, as_bytes("payload"));
    for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
        CAPTURE(bytes);
        Buffer body(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes));
        REQUIRE_FALSE(ends.server.open(body).ok);
    }
}

TEST_CASE("a body that is not a MESSAGE does not open", "[core][zmtp][curve]") {
    Ends ends;
    Buffer body = GENERATE(Buffer(), Buffer(33), Buffer(400), wire(5, "READY", Buffer(60)), wire(7, "MESSAGE"));
    CHECK_FALSE(ends.server.open(body).ok);
}

TEST_CASE("the seal is that of the standard, to the byte", "[core][zmtp][curve]") {
    // Made with crypto_box_easy_afternm of libsodium 1.0.18: the key 00..1f, the nonce CurveZMQMESSAGEC and 3, the text
    // 01 and "abc".
    Ends ends;
    CHECK(hex(Bytes(sealed(ends.client, frame_flag::more, as_bytes("abc"))).subspan(18)) ==
          "a3 d9 ad 9c 2f ee c2 b2 2b bd 72 d0 10 67 24 1e ec 83 4d 83 ");
}
