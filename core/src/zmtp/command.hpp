#pragma once

#include "zmtp/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::zmtp {

/// Socket types that NULL and CURVE peers name in READY.
enum class SocketType : std::uint8_t { pair, pub, sub, req, rep, dealer, router, pull, push, xpub, xsub };

[[nodiscard]] std::string_view to_string(SocketType type) noexcept;
[[nodiscard]] std::optional<SocketType> parse_socket_type(std::string_view text) noexcept;
/// Whether RFC 37 lets these two talk.
[[nodiscard]] bool compatible(SocketType ours, SocketType theirs) noexcept;

/// The body of a command frame: `name-length name data`.
struct Command {
    std::string_view name;
    Bytes data;
};

/// nullopt when the name is empty or longer than the body.
[[nodiscard]] std::optional<Command> parse_command(Bytes body) noexcept;
/// Appends `bytes`.
inline void append_bytes(std::vector<std::byte>& out, Bytes bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
}
/// Appends a whole command frame.
void append_command(std::vector<std::byte>& out, std::string_view name, Bytes data);

/// What READY says. Names are matched without regard to case; unknown properties are skipped.
struct ReadyProperties {
    std::optional<SocketType> socket_type;
    std::string identity;
};

struct ReadyResult {
    std::optional<ReadyProperties> properties;
    std::string_view fault;  // when there are none
};

/// Parses READY's data, which CURVE puts into INITIATE and READY alike. Faults: truncated, empty name, one of these two
/// twice, too many, an identity over 255 bytes or with a leading zero byte, an unknown or missing Socket-Type.
[[nodiscard]] ReadyResult parse_ready(Bytes data);

struct Ping {
    std::uint16_t ttl_deciseconds = 0;  // 0: none
    Bytes context;                      // at most limits::ping_context_bytes_max
};

/// nullopt when shorter than its TTL or the context is too long.
[[nodiscard]] std::optional<Ping> parse_ping(Bytes data) noexcept;
/// The context that PONG returns; nullopt when it is longer than any that we may have sent.
[[nodiscard]] std::optional<Bytes> parse_pong(Bytes data) noexcept;

/// Data of a READY of ours. `identity` is told when the socket type is one that has it (REQ, DEALER, ROUTER).
void append_metadata(std::vector<std::byte>& out, SocketType type, std::string_view identity);
/// A whole READY frame, for NULL.
void append_ready(std::vector<std::byte>& out, SocketType type, std::string_view identity);
/// A whole PING frame. Of the TTL at most 655 is sent, since libzmq counts a longer one wrongly; 0 is none.
void append_ping(std::vector<std::byte>& out, std::uint16_t ttl_deciseconds, Bytes context);
/// A whole PONG frame that returns `context`.
void append_pong(std::vector<std::byte>& out, Bytes context);

/// What a SUB or XSUB peer asks for.
struct Subscription {
    enum class Kind : std::uint8_t { subscribe, cancel };
    Kind kind = Kind::subscribe;
    Bytes prefix;
};

/// Reads either form, whatever the peer's version: the command SUBSCRIBE or CANCEL of ZMTP 3.1, or the message
/// `01 prefix` or `00 prefix` of earlier ones. nullopt when the frame is something else.
[[nodiscard]] std::optional<Subscription> parse_subscription(const Frame& frame) noexcept;
/// A whole frame in the form that a peer of ZMTP 3.`minor` knows: the command, or the message for minor 0.
void append_subscribe(std::vector<std::byte>& out, std::uint8_t minor, Bytes prefix);
void append_cancel(std::vector<std::byte>& out, std::uint8_t minor, Bytes prefix);

}  // namespace telegate::zmtp
