#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace telegate::network {

struct HostPort {
    std::string host;  // a name or numeric; IPv6 without brackets
    std::string port;
};

/// Parses HOST, HOST:PORT or [IPV6]:PORT; returns nullopt for other texts.
[[nodiscard]] std::optional<HostPort> parse_host_port(std::string_view text, std::string_view default_port);

}  // namespace telegate::network
