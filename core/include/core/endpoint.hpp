#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace telegate {

enum class Transport : std::uint8_t { tcp, ipc, inproc };
/// As it stands in an endpoint, before "://".
[[nodiscard]] std::string_view to_string(Transport transport) noexcept;

/// An address in ZeroMQ notation, taken apart.
/// tcp:    `host` is a numeric IPv4 address, an IPv6 address without brackets (with "%zone" where it needs one), the
///         name of an interface, "localhost", or "*" for all (bind only); `port` 0 asks for any free one (bind only).
/// ipc:    `path` is a file path, '@' and a name for an abstract socket, or "*" for a scratch file (bind only).
/// inproc: `path` is any name, shared by this process.
struct Endpoint {
    Transport transport = Transport::tcp;
    std::string host;
    std::uint16_t port = 0;
    std::string path;

    friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// Why a text is not an endpoint, in words for the person who wrote it.
struct EndpointFault {
    std::string what;
};

/// Parses "tcp://127.0.0.1:5556", "tcp://[::1]:*", "tcp://eth0:5556", "tcp://*:0", "ipc:///run/telegate/pub.sock",
/// "ipc://@telegate", "ipc://*", "inproc://name". Does not look whether an interface exists: bind and connect do.
[[nodiscard]] std::variant<Endpoint, EndpointFault> parse_endpoint(std::string_view text);

[[nodiscard]] std::string to_string(const Endpoint& endpoint);

/// Returns whether each bind to it gives another address: a port or a file that is free.
[[nodiscard]] bool is_any(const Endpoint& endpoint) noexcept;

/// Returns whether a socket bound to `bound` can be why `wanted` cannot be bound: it has the same port, at whatever
/// address, or the same path or name.
[[nodiscard]] bool may_conflict(const Endpoint& bound, const Endpoint& wanted) noexcept;

}  // namespace telegate
