#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telegate {

/// A place to listen: a numeric IPv4 address, an IPv6 address without brackets, or "localhost".
struct ListenAddress {
    std::string host;
    std::int64_t port = 0;
};

/// Parses "127.0.0.1:8080", "[::1]:0", "localhost:80". Names other than localhost are refused: looking them up could
/// block the start or bind to an address that nobody meant.
[[nodiscard]] std::optional<ListenAddress> parse_listen_address(std::string_view text);

/// The text that parses to this address.
[[nodiscard]] std::string listen_address_text(const std::string& host, std::int64_t port);

}  // namespace telegate
