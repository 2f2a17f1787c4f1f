#pragma once

#include "base/sodium.hpp"
#include "core/curve.hpp"
#include "zmtp/command.hpp"
#include "zmtp/curve.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::zmtp {

/// The commands of one CURVE connection between its greetings and its traffic (RFC 25 and 26), from either side.
/// Pure. README.md describes the bytes.
///
/// As a server it keeps only the nonce of a HELLO and its own random key, which seals the cookie in WELCOME. It takes
/// the rest from the cookie that the client returns in INITIATE.
///
/// Threads: one.
/// Limits: the size of the commands passed to it.
/// Failure: a violation is final; fault() names it. Never sends ERROR. All secrets are wiped after use.
class CurveHandshake {
  public:
    enum class Status : std::uint8_t { need_more, proven, violation };

    /// `security` must be CurveServer or CurveClient, and outlive this. `metadata` is sent to the peer.
    CurveHandshake(const Security& security, std::vector<std::byte> metadata);

    /// Called once, when the peer's greeting is valid. A client sends HELLO.
    [[nodiscard]] Status start(std::vector<std::byte>& out);
    /// Processes the peer's next command and appends our reply. After `proven`, the peer is authenticated and allowed.
    [[nodiscard]] Status receive(const Command& command, std::vector<std::byte>& out);

    /// Returns the peer's long-term key once the peer has proven that it owns it, even if that key is not allowed.
    [[nodiscard]] const std::optional<CurveKey>& peer_key() const noexcept { return peer_key_; }
    // Valid after `proven`.
    /// Returns the client's name, if clients are known by name.
    [[nodiscard]] const std::string& peer_name() const noexcept { return peer_name_; }
    [[nodiscard]] Bytes peer_metadata() const noexcept { return peer_metadata_; }
    /// Returns the cipher, because the peer's metadata is acceptable. A server sends READY.
    [[nodiscard]] std::unique_ptr<CurveCipher> finish(std::vector<std::byte>& out);

    /// Returns the fault as a short fixed text.
    [[nodiscard]] std::string_view fault() const noexcept { return fault_; }

  private:
    [[nodiscard]] Status receive_hello(const Command& command, std::vector<std::byte>& out);
    void append_welcome(std::vector<std::byte>& out, Bytes client_transient);
    [[nodiscard]] Status receive_initiate(const Command& command);
    [[nodiscard]] bool open_cookie(Bytes cookie);
    [[nodiscard]] Status verify_client(Bytes key_and_vouch);
    [[nodiscard]] bool open_vouch(const CurveKey& client_key, Bytes vouch) const;
    [[nodiscard]] Status receive_welcome(const Command& command, std::vector<std::byte>& out);
    [[nodiscard]] bool append_initiate(std::vector<std::byte>& out, Bytes cookie, Bytes server_transient);
    [[nodiscard]] Status receive_ready(const Command& command);
    [[nodiscard]] Status fail(std::string_view fault) noexcept;

    enum class Phase : std::uint8_t { start, hello, welcome, initiate, ready, proven, failed };  // the command expected

    const CurveServer* const server_;  // one of the two is null
    const CurveClient* const client_;
    const std::vector<std::byte> metadata_;
    Phase phase_ = Phase::start;
    CurveKeyPair transient_;  // our own
    CurveKey peer_transient_{};
    Secret<crypto_box_BEFORENMBYTES> hello_;   // of the client's transient and the server's long-term key
    Secret<crypto_box_BEFORENMBYTES> shared_;  // of the two transient keys
    Secret<crypto_secretbox_KEYBYTES> cookie_;
    std::uint64_t own_nonce_ = 0;
    std::uint64_t peer_nonce_ = 0;
    std::optional<CurveKey> peer_key_;
    std::string peer_name_;
    std::vector<std::byte> peer_metadata_;
    std::string_view fault_;
};

}  // namespace telegate::zmtp
