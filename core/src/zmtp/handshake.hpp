#pragma once

#include "core/curve.hpp"
#include "zmtp/command.hpp"
#include "zmtp/curve.hpp"
#include "zmtp/decoder.hpp"
#include "zmtp/greeting.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::zmtp {

class CurveHandshake;

struct HandshakeOptions {
    SocketType socket_type = SocketType::pub;
    std::string identity;  // 0 to 255 bytes
    Security security{};   // of the socket; NULL when empty
};

struct PeerInfo {
    std::uint8_t minor = 0;  // of ZMTP 3
    SocketType socket_type = SocketType::sub;
    std::string identity;
    std::optional<CurveKey> curve_key;  // the client's long-term key, or the server's, that was proven
    std::string curve_name{};           // of the client, where the server knows clients by name
};

/// Greeting and handshake, NULL or CURVE, of one connection, from either side. Pure: bytes in, bytes out.
///
/// Our greeting is ready at construction, since a peer may wait for it; the rest follows once the peer's greeting is
/// valid.
///
/// Threads: one.
/// Limits:  metadata_bytes_max for READY and INITIATE; one greeting of memory otherwise.
/// Failure: a violation is final; fault() names it. We never send ERROR: a libzmq client that gets one never returns.
class Handshake {
  public:
    enum class Status : std::uint8_t { need_more, done, violation };

    explicit Handshake(HandshakeOptions options);
    ~Handshake();

    /// Consumes from the front of `input`. After done, what is left of `input` is the first traffic.
    [[nodiscard]] Status feed(Bytes& input);

    /// Bytes to send now; the caller takes them all.
    [[nodiscard]] std::vector<std::byte> take_output();

    /// After done; after a violation what was known by then, which is a key at most.
    [[nodiscard]] const PeerInfo& peer() const noexcept { return peer_; }
    /// After done: what seals and opens the traffic; null for NULL.
    [[nodiscard]] std::unique_ptr<CurveCipher> take_cipher() noexcept;
    [[nodiscard]] std::string_view fault() const noexcept { return fault_; }

  private:
    [[nodiscard]] Status feed_greeting(Bytes& input);
    [[nodiscard]] Status start_commands();
    [[nodiscard]] Status feed_commands(Bytes& input);
    [[nodiscard]] Status take_frame(const Frame& frame);
    [[nodiscard]] Status take_curve(const Command& command);
    [[nodiscard]] Status take_metadata(Bytes data);
    [[nodiscard]] Status fail(std::string_view fault) noexcept;

    enum class Phase : std::uint8_t { greeting, commands, done, failed };

    const HandshakeOptions options_;
    Phase phase_ = Phase::greeting;
    Greeting received_{};
    std::size_t received_bytes_ = 0;
    FrameDecoder decoder_;
    std::unique_ptr<CurveHandshake> curve_;  // null for NULL
    std::unique_ptr<CurveCipher> cipher_;
    std::vector<std::byte> output_;
    PeerInfo peer_;
    std::string_view fault_;
};

}  // namespace telegate::zmtp
