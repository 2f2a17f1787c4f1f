#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace telegate {

enum class Transport : std::uint8_t { tcp, ipc, inproc };
/// Returns the transport as it is written in an endpoint, before "://".
[[nodiscard]] std::string_view to_string(Transport transport) noexcept;
/// Returns whether the data never leaves the process, so that CURVE would protect nothing.
[[nodiscard]] bool stays_in_process(Transport transport) noexcept;

/// A parsed address in ZeroMQ notation.
/// tcp: `host` is a numeric IPv4 address, an IPv6 address without brackets (with "%zone" if needed), an interface name,
/// "localhost", or "*" for all interfaces (bind only). `port` 0 means any free port (bind only).
/// ipc: `path` is a file path, '@' and the name of an abstract socket, or "*" for a temporary file (bind only).
/// inproc: `path` is any name, shared within this process.
struct Endpoint {
    Transport transport = Transport::tcp;
    std::string host;
    std::uint16_t port = 0;
    std::string path;

    friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// Why a text is not an endpoint, in words for the user.
struct EndpointFault {
    std::string what;
};

/// Parses an endpoint such as "tcp://127.0.0.1:5556", "tcp://[::1]:*", "tcp://eth0:5556", "tcp://*:0",
/// "ipc:///run/telegate/pub.sock", "ipc://@telegate", "ipc://*" or "inproc://name". Does not check whether an interface
/// exists; bind and connect do.
[[nodiscard]] std::variant<Endpoint, EndpointFault> parse_endpoint(std::string_view text);
/// Returns why `host` cannot be the host of a tcp endpoint; nullopt if it can.
[[nodiscard]] std::optional<EndpointFault> check_tcp_host(std::string_view host);

[[nodiscard]] std::string to_string(const Endpoint& endpoint);

/// Returns whether each bind to the endpoint gets a different address (a free port or a temporary file).
[[nodiscard]] bool is_any(const Endpoint& endpoint) noexcept;

/// Returns whether a socket bound to `bound` can prevent a bind to `wanted`: both have the same port, on any address,
/// or the same path or name.
[[nodiscard]] bool may_conflict(const Endpoint& bound, const Endpoint& wanted) noexcept;

}  // namespace telegate
