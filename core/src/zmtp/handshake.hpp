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
    Security security{};   // of the socket; empty for NULL
};

struct PeerInfo {
    std::uint8_t minor = 0;  // of ZMTP 3
    SocketType socket_type = SocketType::sub;
    std::string identity;
    std::optional<CurveKey> curve_key;  // the proven long-term key of the client or server
    std::string curve_name{};           // of the client, if the server knows clients by name
};

/// The greeting and handshake, NULL or CURVE, of one connection, from either side. Pure: bytes in, bytes out.
///
/// Our greeting is ready at construction, because a peer may wait for it; the rest follows once the peer's greeting is
/// valid.
///
/// Threads: one.
/// Limits: metadata_bytes_max for READY and INITIATE; otherwise the memory of one greeting.
/// Failure: a violation is final; fault() names it. Never sends ERROR: a libzmq client that receives one never
/// reconnects.
class Handshake {
  public:
    enum class Status : std::uint8_t { need_more, done, violation };

    explicit Handshake(HandshakeOptions options);
    ~Handshake();

    /// Consumes from the front of `input`. After done, the rest of `input` is the first traffic.
    [[nodiscard]] Status feed(Bytes& input);

    /// Returns the bytes to send now; the caller must send all of them.
    [[nodiscard]] std::vector<std::byte> take_output();

    /// Complete after done; after a violation it holds what was known by then, such as the peer's key.
    [[nodiscard]] const PeerInfo& peer() const noexcept { return peer_; }
    /// After done: returns the cipher for the traffic; null for NULL.
    [[nodiscard]] std::unique_ptr<CurveCipher> take_cipher() noexcept;
    [[nodiscard]] std::string_view fault() const noexcept { return fault_; }

  private:
    [[nodiscard]] Status feed_greeting(Bytes& input);
    [[nodiscard]] Status start_commands();
    [[nodiscard]] Status feed_commands(Bytes& input);
    [[nodiscard]] Status receive_frame(const Frame& frame);
    [[nodiscard]] Status receive_curve(const Command& command);
    [[nodiscard]] Status receive_metadata(Bytes data);
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
