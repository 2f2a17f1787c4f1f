#include "zmtp/curve.hpp"

#include "base/sodium.hpp"
#include "core/assert.hpp"
#include "core/endian.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

namespace telegate::zmtp {

namespace {

// The body: name, nonce, verifier, then the text of the box, which begins with the inner flags.
constexpr std::string_view name = "\x07MESSAGE";
constexpr std::size_t nonce_at = name.size();
constexpr std::size_t nonce_bytes = sizeof(std::uint64_t);
constexpr std::size_t verifier_at = nonce_at + nonce_bytes;
constexpr std::size_t text_at = verifier_at + crypto_onetimeauth_poly1305_BYTES;
constexpr std::size_t payload_at = text_at + 1;

// The part before the text is as long as the one-time key of the verifier, which is the first part of the key stream.
constexpr std::size_t verifier_key_bytes = crypto_onetimeauth_poly1305_KEYBYTES;
static_assert(text_at == verifier_key_bytes);

/// The key stream that open() generates at once; a few blocks cost little more than one.
constexpr std::size_t stream_block_bytes = 64;
constexpr std::size_t stream_head_bytes = 8 * stream_block_bytes;

constexpr std::string_view to_server = "CurveZMQMESSAGEC";
constexpr std::string_view to_client = "CurveZMQMESSAGES";

/// Inner flags and the corresponding frame flags. libzmq uses the same values.
constexpr std::uint8_t inner_more = 1;
constexpr std::uint8_t inner_command = 2;
constexpr std::array<std::uint8_t, 3> frame_flags_of_inner = {0, frame_flag::more, frame_flag::command};
static_assert(inner_more == frame_flag::more);

[[nodiscard]] CurveKey message_key(const CurveKey& shared, std::string_view nonce_prefix) noexcept {
    CurveKey key{};
    ::crypto_core_hsalsa20(octets(key.data()), octets(as_bytes(nonce_prefix).data()), octets(shared.data()), nullptr);
    return key;
}

}  // namespace

CurveCipher::CurveCipher(const CurveKey& shared, bool as_server, std::uint64_t own_nonce,
                         std::uint64_t peer_nonce) noexcept
    : seal_key_(message_key(shared, as_server ? to_client : to_server)),
      open_key_(message_key(shared, as_server ? to_server : to_client)),
      own_nonce_(own_nonce),
      peer_nonce_(peer_nonce) {}

CurveCipher::~CurveCipher() {
    ::sodium_memzero(seal_key_.data(), seal_key_.size());
    ::sodium_memzero(open_key_.data(), open_key_.size());
}

std::size_t CurveCipher::sealed_bytes(std::size_t payload_bytes) noexcept {
    const std::size_t body_bytes = payload_at + payload_bytes;
    return frame_header_bytes(body_bytes) + body_bytes;
}

std::size_t CurveCipher::seal(std::byte* out, std::uint8_t flags, Bytes payload) noexcept {
    TELEGATE_ASSERT(flags == 0 || flags == frame_flag::more || flags == frame_flag::command);
    const std::size_t text_bytes = 1 + payload.size();
    const std::size_t header_bytes = write_frame_header(out, 0, text_at + text_bytes);
    std::byte* const body = out + header_bytes;

    std::array<std::byte, nonce_bytes> nonce;
    store_big_endian(nonce.data(), ++own_nonce_);
    std::memset(body, 0, verifier_key_bytes);
    body[text_at] = std::byte{flags == frame_flag::command ? inner_command : flags};
    std::copy(payload.begin(), payload.end(), body + payload_at);
    // One pass turns the leading zeros into the verifier's key, and the text after them into the secret text.
    ::crypto_stream_salsa20_xor(octets(body), octets(body), text_at + text_bytes, octets(nonce.data()),
                                octets(seal_key_.data()));
    std::array<std::byte, crypto_onetimeauth_poly1305_BYTES> verifier;
    ::crypto_onetimeauth_poly1305(octets(verifier.data()), octets(body + text_at), text_bytes, octets(body));

    std::memcpy(body, name.data(), name.size());
    std::memcpy(body + nonce_at, nonce.data(), nonce.size());
    std::memcpy(body + verifier_at, verifier.data(), verifier.size());
    return header_bytes + text_at + text_bytes;
}

OpenedFrame CurveCipher::open(std::span<std::byte> body) noexcept {
    if (body.size() < payload_at || std::memcmp(body.data(), name.data(), name.size()) != 0) {
        return {};
    }
    const std::byte* const nonce = body.data() + nonce_at;
    const auto nonce_value = load_big_endian<std::uint64_t>(nonce);
    if (nonce_value <= peer_nonce_) {
        return {};
    }
    const std::span<std::byte> text = body.subspan(text_at);
    const std::size_t head_bytes = std::min(text.size(), stream_head_bytes - verifier_key_bytes);
    std::array<std::byte, stream_head_bytes> stream;
    ::crypto_stream_salsa20(octets(stream.data()), verifier_key_bytes + head_bytes, octets(nonce),
                            octets(open_key_.data()));
    if (::crypto_onetimeauth_poly1305_verify(octets(body.data() + verifier_at), octets(text.data()), text.size(),
                                             octets(stream.data())) != 0) {
        return {};
    }
    peer_nonce_ = nonce_value;

    for (std::size_t i = 0; i < head_bytes; ++i) {
        text[i] ^= stream[verifier_key_bytes + i];
    }
    if (text.size() > head_bytes) {
        std::byte* const rest = text.data() + head_bytes;
        ::crypto_stream_salsa20_xor_ic(octets(rest), octets(rest), text.size() - head_bytes, octets(nonce),
                                       stream_head_bytes / stream_block_bytes, octets(open_key_.data()));
    }
    const auto inner = std::to_integer<std::size_t>(text.front());
    if (inner >= frame_flags_of_inner.size()) {
        return {};
    }
    return {true, frame_flags_of_inner[inner], text.subspan(1)};
}

}  // namespace telegate::zmtp
