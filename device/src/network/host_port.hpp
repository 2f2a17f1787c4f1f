#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace telegate::network {

struct HostPort {
    std::string host;  // numeric or a name; IPv6 without its brackets
    std::string port;
};

/// HOST, HOST:PORT or [IPV6]:PORT; nothing for other texts.
[[nodiscard]] std::optional<HostPort> parse_host_port(std::string_view text, std::string_view default_port);

}  // namespace telegate::network
