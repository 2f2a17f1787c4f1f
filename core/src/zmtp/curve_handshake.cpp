#include "zmtp/curve_handshake.hpp"

#include "core/assert.hpp"
#include "core/endian.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

namespace telegate::zmtp {

namespace {

constexpr std::size_t key_bytes = sizeof(CurveKey);
constexpr std::size_t box_extra_bytes = crypto_box_MACBYTES;
constexpr std::size_t short_nonce_bytes = sizeof(std::uint64_t);
constexpr std::size_t long_nonce_bytes = 16;  // the part of a random nonce that is sent

// HELLO: version, padding, C', nonce, box of zeros.
constexpr std::byte version_major{1};
constexpr std::byte version_minor{0};
constexpr std::size_t version_bytes = 2;
constexpr std::size_t padding_bytes = 72;
constexpr std::size_t hello_zero_bytes = 64;
constexpr std::size_t hello_bytes =
    version_bytes + padding_bytes + key_bytes + short_nonce_bytes + box_extra_bytes + hello_zero_bytes;
static_assert(6 + hello_bytes == 200);

// WELCOME: nonce, box of S' and the cookie: nonce, secret box of C' and s'.
constexpr std::size_t cookie_bytes = long_nonce_bytes + box_extra_bytes + 2 * key_bytes;
constexpr std::size_t welcome_bytes = long_nonce_bytes + box_extra_bytes + key_bytes + cookie_bytes;
static_assert(8 + welcome_bytes == 168);

// INITIATE: cookie, nonce, box of C, the vouch and metadata. The vouch: nonce, box of C' and S.
constexpr std::size_t vouch_bytes = long_nonce_bytes + box_extra_bytes + 2 * key_bytes;
constexpr std::size_t initiate_bytes_min = cookie_bytes + short_nonce_bytes + box_extra_bytes + key_bytes + vouch_bytes;
static_assert(9 + initiate_bytes_min == 257);

constexpr std::size_t ready_bytes_min = short_nonce_bytes + box_extra_bytes;

using Nonce = std::array<std::byte, crypto_box_NONCEBYTES>;

/// Joins a fixed prefix and the part that is on the wire.
[[nodiscard]] Nonce make_nonce(std::string_view prefix, Bytes rest) noexcept {
    Nonce nonce{};
    TELEGATE_ASSERT(prefix.size() + rest.size() == nonce.size());
    const Bytes prefix_bytes = as_bytes(prefix);
    std::copy(rest.begin(), rest.end(), std::copy(prefix_bytes.begin(), prefix_bytes.end(), nonce.begin()));
    return nonce;
}

[[nodiscard]] std::array<std::byte, short_nonce_bytes> counted(std::uint64_t value) noexcept {
    std::array<std::byte, short_nonce_bytes> nonce{};
    store_big_endian(nonce.data(), value);
    return nonce;
}

[[nodiscard]] std::array<std::byte, long_nonce_bytes> random_nonce() {
    std::array<std::byte, long_nonce_bytes> nonce{};
    ::randombytes_buf(nonce.data(), nonce.size());
    return nonce;
}

template <std::size_t Size>
[[nodiscard]] Bytes view(const Secret<Size>& secret) noexcept {
    return {secret.data(), Size};
}

/// Takes `bytes` bytes off the front of `data`.
[[nodiscard]] Bytes take_front(Bytes& data, std::size_t bytes) noexcept {
    const Bytes front = data.first(bytes);
    data = data.subspan(bytes);
    return front;
}

[[nodiscard]] CurveKey key_of(Bytes bytes) noexcept {
    TELEGATE_ASSERT(bytes.size() == key_bytes);
    CurveKey key{};
    std::copy(bytes.begin(), bytes.end(), key.begin());
    return key;
}

[[nodiscard]] bool equal(Bytes a, Bytes b) noexcept {
    return a.size() == b.size() && ::sodium_memcmp(a.data(), b.data(), a.size()) == 0;
}

/// The shared secret of two keys. agree() returns false for a public key whose result does not depend on the secret
/// key.
using Shared = Secret<crypto_box_BEFORENMBYTES>;
[[nodiscard]] bool agree(Shared& shared, const CurveKey& public_key, const CurveKey& secret_key) noexcept {
    return ::crypto_box_beforenm(octets(shared.data()), octets(public_key.data()), octets(secret_key.data())) == 0;
}

void append_box(std::vector<std::byte>& out, const Shared& shared, const Nonce& nonce, Bytes text) {
    const std::size_t at = out.size();
    out.resize(at + box_extra_bytes + text.size());
    ::crypto_box_easy_afternm(octets(out.data() + at), octets(text.data()), text.size(), octets(nonce.data()),
                              octets(shared.data()));
}

/// Decrypts `box` to `text`, which must have space for its contents.
[[nodiscard]] bool open_box(std::byte* text, const Shared& shared, const Nonce& nonce, Bytes box) noexcept {
    return ::crypto_box_open_easy_afternm(octets(text), octets(box.data()), box.size(), octets(nonce.data()),
                                          octets(shared.data())) == 0;
}

}  // namespace

CurveHandshake::CurveHandshake(const Security& security, std::vector<std::byte> metadata)
    : server_(std::get_if<CurveServer>(&security)),
      client_(std::get_if<CurveClient>(&security)),
      metadata_(std::move(metadata)) {
    TELEGATE_ASSERT((server_ == nullptr) != (client_ == nullptr));
    start_sodium();
}

CurveHandshake::Status CurveHandshake::start(std::vector<std::byte>& out) {
    TELEGATE_ASSERT(phase_ == Phase::start);
    if (server_ != nullptr) {
        phase_ = Phase::hello;
        return Status::need_more;
    }
    transient_ = make_curve_key_pair();
    if (!agree(hello_, client_->server_key, transient_.secret_key)) {
        return fail("invalid server key");
    }
    const auto nonce = counted(++own_nonce_);
    std::vector<std::byte> data = {version_major, version_minor};
    data.resize(version_bytes + padding_bytes);
    append_bytes(data, transient_.public_key);
    append_bytes(data, nonce);
    append_box(data, hello_, make_nonce("CurveZMQHELLO---", nonce), std::array<std::byte, hello_zero_bytes>{});
    append_command(out, "HELLO", data);
    phase_ = Phase::welcome;
    return Status::need_more;
}

CurveHandshake::Status CurveHandshake::receive(const Command& command, std::vector<std::byte>& out) {
    switch (phase_) {
        case Phase::hello: return receive_hello(command, out);
        case Phase::initiate: return receive_initiate(command);
        case Phase::welcome: return receive_welcome(command, out);
        case Phase::ready: return receive_ready(command);
        case Phase::start:
        case Phase::proven:
        case Phase::failed: break;
    }
    TELEGATE_ASSERT(phase_ == Phase::failed);  // the other phases expect no command
    return Status::violation;
}

std::unique_ptr<CurveCipher> CurveHandshake::finish(std::vector<std::byte>& out) {
    TELEGATE_ASSERT(phase_ == Phase::proven);
    if (server_ != nullptr) {
        const auto nonce = counted(++own_nonce_);
        std::vector<std::byte> data(nonce.begin(), nonce.end());
        append_box(data, shared_, make_nonce("CurveZMQREADY---", nonce), metadata_);
        append_command(out, "READY", data);
    }
    CurveKey key = key_of(view(shared_));
    auto cipher = std::make_unique<CurveCipher>(key, server_ != nullptr, own_nonce_, peer_nonce_);
    ::sodium_memzero(key.data(), key.size());
    shared_.wipe();
    return cipher;
}

CurveHandshake::Status CurveHandshake::receive_hello(const Command& command, std::vector<std::byte>& out) {
    Bytes data = command.data;
    if (command.name != "HELLO" || data.size() != hello_bytes) {
        return fail("first command is not a CURVE HELLO");
    }
    const Bytes version = take_front(data, version_bytes);
    if (version[0] != version_major || version[1] != version_minor) {
        return fail("unsupported CURVE version");
    }
    const Bytes padding = take_front(data, padding_bytes);
    if (::sodium_is_zero(octets(padding.data()), padding.size()) == 0) {
        return fail("HELLO with nonzero padding");
    }
    const Bytes client_transient = take_front(data, key_bytes);
    const Bytes nonce = take_front(data, short_nonce_bytes);
    std::array<std::byte, hello_zero_bytes> zeros{};
    if (!agree(hello_, key_of(client_transient), server_->keys.secret_key) ||
        !open_box(zeros.data(), hello_, make_nonce("CurveZMQHELLO---", nonce), data) ||
        ::sodium_is_zero(octets(zeros.data()), zeros.size()) == 0) {
        return fail("cannot decrypt HELLO: made for a different server key");
    }
    peer_nonce_ = load_big_endian<std::uint64_t>(nonce.data());
    append_welcome(out, client_transient);
    phase_ = Phase::initiate;
    return Status::need_more;
}

void CurveHandshake::append_welcome(std::vector<std::byte>& out, Bytes client_transient) {
    const CurveKeyPair transient = make_curve_key_pair();
    ::randombytes_buf(cookie_.data(), cookie_.size());
    Secret<2 * key_bytes> cookie_text;
    std::copy(client_transient.begin(), client_transient.end(), cookie_text.data());
    std::copy(transient.secret_key.begin(), transient.secret_key.end(), cookie_text.data() + key_bytes);

    std::vector<std::byte> text(transient.public_key.begin(), transient.public_key.end());
    const auto cookie_nonce = random_nonce();
    append_bytes(text, cookie_nonce);
    const std::size_t box_at = text.size();
    text.resize(box_at + box_extra_bytes + cookie_text.size());
    ::crypto_secretbox_easy(octets(text.data() + box_at), octets(cookie_text.data()), cookie_text.size(),
                            octets(make_nonce("COOKIE--", cookie_nonce).data()), octets(cookie_.data()));

    const auto nonce = random_nonce();
    std::vector<std::byte> data(nonce.begin(), nonce.end());
    append_box(data, hello_, make_nonce("WELCOME-", nonce), text);
    append_command(out, "WELCOME", data);
    hello_.wipe();
}

CurveHandshake::Status CurveHandshake::receive_initiate(const Command& command) {
    Bytes data = command.data;
    if (command.name != "INITIATE" || data.size() < initiate_bytes_min) {
        return fail("second command is not a CURVE INITIATE");
    }
    if (!open_cookie(take_front(data, cookie_bytes))) {
        return fail("INITIATE with an invalid cookie");
    }
    const Bytes nonce = take_front(data, short_nonce_bytes);
    const auto nonce_value = load_big_endian<std::uint64_t>(nonce.data());
    std::vector<std::byte> text(data.size() - box_extra_bytes);
    if (!agree(shared_, peer_transient_, transient_.secret_key) ||
        !open_box(text.data(), shared_, make_nonce("CurveZMQINITIATE", nonce), data)) {
        return fail("cannot decrypt INITIATE");
    }
    if (nonce_value <= peer_nonce_) {
        return fail("INITIATE with a nonce that does not increase");
    }
    peer_nonce_ = nonce_value;
    const Status status = verify_client(Bytes(text).first(key_bytes + vouch_bytes));
    peer_metadata_.assign(text.begin() + key_bytes + vouch_bytes, text.end());
    return status;
}

/// Restores the keys that WELCOME sealed into the cookie: the client's transient key and our own.
bool CurveHandshake::open_cookie(Bytes cookie) {
    const Bytes nonce = take_front(cookie, long_nonce_bytes);
    Secret<2 * key_bytes> text;
    if (::crypto_secretbox_open_easy(octets(text.data()), octets(cookie.data()), cookie.size(),
                                     octets(make_nonce("COOKIE--", nonce).data()), octets(cookie_.data())) != 0) {
        return false;
    }
    cookie_.wipe();
    peer_transient_ = key_of(view(text).first(key_bytes));
    std::copy_n(text.data() + key_bytes, key_bytes, transient_.secret_key.begin());
    return true;
}

/// Checks that the client owns the key that it names, and that the key is allowed.
CurveHandshake::Status CurveHandshake::verify_client(Bytes key_and_vouch) {
    const CurveKey client_key = key_of(take_front(key_and_vouch, key_bytes));
    if (!open_vouch(client_key, key_and_vouch)) {
        return fail("INITIATE does not prove the client key");
    }
    peer_key_ = client_key;
    if (server_->clients) {
        auto client_name = server_->clients->name_of(client_key);
        if (!client_name) {
            return fail("client key not allowed");
        }
        peer_name_ = std::move(*client_name);
    }
    phase_ = Phase::proven;
    return Status::proven;
}

bool CurveHandshake::open_vouch(const CurveKey& client_key, Bytes vouch) const {
    const Bytes nonce = take_front(vouch, long_nonce_bytes);
    Shared shared;
    std::array<std::byte, 2 * key_bytes> text{};
    return agree(shared, client_key, transient_.secret_key) &&
           open_box(text.data(), shared, make_nonce("VOUCH---", nonce), vouch) &&
           equal(Bytes(text).first(key_bytes), peer_transient_) &&
           equal(Bytes(text).last(key_bytes), server_->keys.public_key);
}

CurveHandshake::Status CurveHandshake::receive_welcome(const Command& command, std::vector<std::byte>& out) {
    Bytes data = command.data;
    if (command.name != "WELCOME" || data.size() != welcome_bytes) {
        return fail("first command is not a CURVE WELCOME");
    }
    const Bytes nonce = take_front(data, long_nonce_bytes);
    std::array<std::byte, key_bytes + cookie_bytes> text{};
    if (!open_box(text.data(), hello_, make_nonce("WELCOME-", nonce), data)) {
        return fail("cannot decrypt WELCOME: made with a different server key");
    }
    hello_.wipe();
    Bytes cookie(text);
    const Bytes server_transient = take_front(cookie, key_bytes);
    if (!append_initiate(out, cookie, server_transient)) {
        return fail("WELCOME with an invalid transient key");
    }
    phase_ = Phase::ready;
    return Status::need_more;
}

bool CurveHandshake::append_initiate(std::vector<std::byte>& out, Bytes cookie, Bytes server_transient) {
    const CurveKey server_key = key_of(server_transient);
    Shared vouch_shared;
    if (!agree(shared_, server_key, transient_.secret_key) ||
        !agree(vouch_shared, server_key, client_->keys.secret_key)) {
        return false;
    }
    std::vector<std::byte> vouched(transient_.public_key.begin(), transient_.public_key.end());
    append_bytes(vouched, client_->server_key);
    const auto vouch_nonce = random_nonce();
    std::vector<std::byte> text(client_->keys.public_key.begin(), client_->keys.public_key.end());
    append_bytes(text, vouch_nonce);
    append_box(text, vouch_shared, make_nonce("VOUCH---", vouch_nonce), vouched);
    append_bytes(text, metadata_);

    const auto nonce = counted(++own_nonce_);
    std::vector<std::byte> data(cookie.begin(), cookie.end());
    append_bytes(data, nonce);
    append_box(data, shared_, make_nonce("CurveZMQINITIATE", nonce), text);
    append_command(out, "INITIATE", data);
    return true;
}

CurveHandshake::Status CurveHandshake::receive_ready(const Command& command) {
    Bytes data = command.data;
    if (command.name != "READY" || data.size() < ready_bytes_min) {
        return fail("second command is not a CURVE READY");
    }
    const Bytes nonce = take_front(data, short_nonce_bytes);
    peer_metadata_.resize(data.size() - box_extra_bytes);
    if (!open_box(peer_metadata_.data(), shared_, make_nonce("CurveZMQREADY---", nonce), data)) {
        return fail("cannot decrypt READY");
    }
    peer_nonce_ = load_big_endian<std::uint64_t>(nonce.data());
    peer_key_ = client_->server_key;
    phase_ = Phase::proven;
    return Status::proven;
}

CurveHandshake::Status CurveHandshake::fail(std::string_view fault) noexcept {
    phase_ = Phase::failed;
    fault_ = fault;
    return Status::violation;
}

}  // namespace telegate::zmtp
