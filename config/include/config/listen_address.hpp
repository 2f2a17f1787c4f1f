#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// An address to listen on: a numeric IPv4 address, an IPv6 address without brackets, or "localhost", and a port.
struct ListenAddress {
    std::string host;
    std::uint16_t port = 0;
};

/// Parses "127.0.0.1:8080", "[::1]:0", "localhost:80". Names other than localhost are refused: a lookup could block the
/// start or bind to an unintended address.
[[nodiscard]] std::optional<ListenAddress> parse_listen_address(std::string_view text);

/// Returns the text that parses to this address.
[[nodiscard]] std::string listen_address_text(const std::string& host, std::uint16_t port);

}  // namespace telegate
