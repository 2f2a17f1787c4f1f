#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace telegate::uplink {

/// The address of a server.
struct ServerUrl {
    std::string host;
    std::string port;
    bool has_tls = false;
    std::string path = {};  // "" or beginning with a slash, without one at its end
};

/// Parses nats://HOST[:PORT] or tls://HOST[:PORT]; an IPv6 address is in brackets. nullopt: invalid. Threads: any.
[[nodiscard]] std::optional<ServerUrl> parse_nats_url(std::string_view url);

/// Parses http://HOST[:PORT][/PATH] or https://HOST[:PORT][/PATH] in the same way.
[[nodiscard]] std::optional<ServerUrl> parse_http_url(std::string_view url);

/// Returns whether NATS accepts `text` as a subject to publish to: words separated by dots, without wildcards. Threads:
/// any.
[[nodiscard]] bool is_nats_subject(std::string_view text) noexcept;

}  // namespace telegate::uplink
