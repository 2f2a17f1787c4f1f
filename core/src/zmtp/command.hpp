#pragma once

#include "zmtp/frame.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::zmtp {

/// Socket types that NULL and CURVE peers send in READY.
enum class SocketType : std::uint8_t { pair, pub, sub, req, rep, dealer, router, pull, push, xpub, xsub };

[[nodiscard]] std::string_view to_string(SocketType type) noexcept;
[[nodiscard]] std::optional<SocketType> parse_socket_type(std::string_view text) noexcept;
/// Returns whether RFC 37 allows these two types to be connected.
[[nodiscard]] bool compatible(SocketType ours, SocketType theirs) noexcept;

/// The body of a command frame: `name-length name data`.
struct Command {
    std::string_view name;
    Bytes data;
};

/// Parses the body of a command frame. Returns nullopt if the name is empty or longer than the body.
[[nodiscard]] std::optional<Command> parse_command(Bytes body) noexcept;
/// Appends `bytes`.
inline void append_bytes(std::vector<std::byte>& out, Bytes bytes) {
    out.insert(out.end(), bytes.begin(), bytes.end());
}
/// Appends a whole command frame.
void append_command(std::vector<std::byte>& out, std::string_view name, Bytes data);

/// The properties in READY. Names are not case-sensitive; unknown properties are skipped.
struct ReadyProperties {
    std::optional<SocketType> socket_type;
    std::string identity;
};

struct ReadyResult {
    std::optional<ReadyProperties> properties;
    std::string_view fault;  // if there are no properties
};

/// Parses the data of READY, which CURVE puts into both INITIATE and READY. Faults: truncated data, an empty name, a
/// duplicate of one of these two properties, too many properties, an identity longer than 255 bytes or with a leading
/// zero byte, an unknown or missing Socket-Type.
[[nodiscard]] ReadyResult parse_ready(Bytes data);

struct Ping {
    std::uint16_t ttl_deciseconds = 0;  // 0: none
    Bytes context;                      // at most limits::ping_context_bytes_max
};

/// Parses the data of PING. Returns nullopt if it is shorter than its TTL or the context is too long.
[[nodiscard]] std::optional<Ping> parse_ping(Bytes data) noexcept;

/// Appends the data of our READY. Includes `identity` if the socket type has one (REQ, DEALER, ROUTER).
void append_metadata(std::vector<std::byte>& out, SocketType type, std::string_view identity);
/// Appends a whole READY frame, for NULL.
void append_ready(std::vector<std::byte>& out, SocketType type, std::string_view identity);
/// Appends a whole PING frame. A TTL over 655 is sent as 655, because libzmq miscounts longer ones; 0 is none.
void append_ping(std::vector<std::byte>& out, std::uint16_t ttl_deciseconds, Bytes context);
/// Appends a whole PONG frame that returns `context`.
void append_pong(std::vector<std::byte>& out, Bytes context);

/// A request of a SUB or XSUB peer.
struct Subscription {
    enum class Kind : std::uint8_t { subscribe, cancel };
    Kind kind = Kind::subscribe;
    Bytes prefix;
};

/// Returns the request of a SUBSCRIBE or CANCEL; nullopt for any other command.
[[nodiscard]] std::optional<Subscription> subscription_of(const Command& command) noexcept;
/// Parses either form, regardless of the peer's version: the command SUBSCRIBE or CANCEL of ZMTP 3.1, or the message
/// `01 prefix` or `00 prefix` of earlier versions. Returns nullopt for any other frame.
[[nodiscard]] std::optional<Subscription> parse_subscription(const Frame& frame) noexcept;
/// Appends a whole frame in the form for a peer of ZMTP 3.`minor`: the command, or the message for minor 0.
void append_subscription(std::vector<std::byte>& out, std::uint8_t minor, const Subscription& subscription);

}  // namespace telegate::zmtp
