#pragma once

#include "zmtp/command.hpp"
#include "zmtp/decoder.hpp"
#include "zmtp/greeting.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::zmtp {

struct HandshakeOptions {
    SocketType socket_type = SocketType::pub;
    std::string identity;  // 0 to 255 bytes
};

struct PeerInfo {
    std::uint8_t minor = 0;  // of ZMTP 3
    SocketType socket_type = SocketType::sub;
    std::string identity;
};

/// Greeting and NULL handshake of one connection, from either side. Pure: bytes in, bytes out.
///
/// Our greeting is ready at construction, since a peer may wait for it; READY follows once the peer's greeting is
/// valid.
///
/// Threads: one.
/// Limits:  metadata_bytes_max for READY; one greeting of memory otherwise.
/// Failure: a violation is final; fault() names it. We never send ERROR: a libzmq client that gets one never returns.
class Handshake {
  public:
    enum class Status : std::uint8_t { need_more, done, violation };

    explicit Handshake(HandshakeOptions options);

    /// Consumes from the front of `input`. After done, what is left of `input` is the first traffic.
    [[nodiscard]] Status feed(Bytes& input);

    /// Bytes to send now; the caller takes them all.
    [[nodiscard]] std::vector<std::byte> take_output();

    [[nodiscard]] const PeerInfo& peer() const noexcept { return peer_; }  // after done
    [[nodiscard]] std::string_view fault() const noexcept { return fault_; }

  private:
    [[nodiscard]] Status feed_greeting(Bytes& input);
    [[nodiscard]] Status feed_ready(Bytes& input);
    [[nodiscard]] Status fail(std::string_view fault) noexcept;

    enum class Phase : std::uint8_t { greeting, ready, done, failed };

    const HandshakeOptions options_;
    Phase phase_ = Phase::greeting;
    Greeting received_{};
    std::size_t received_bytes_ = 0;
    FrameDecoder decoder_;
    std::vector<std::byte> output_;
    PeerInfo peer_;
    std::string_view fault_;
};

}  // namespace telegate::zmtp
