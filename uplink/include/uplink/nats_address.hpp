#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace telegate::uplink {

/// The address of a NATS server.
struct NatsAddress {
    std::string host;
    std::string port = "4222";
    bool has_tls = false;
};
/// Parses nats://HOST[:PORT] or tls://HOST[:PORT]; an IPv6 address is in brackets. nullopt: invalid. Threads: any.
[[nodiscard]] std::optional<NatsAddress> parse_nats_url(std::string_view url);

/// Returns whether NATS accepts `text` as a subject to publish to: words separated by dots, without wildcards. Threads:
/// any.
[[nodiscard]] bool is_nats_subject(std::string_view text) noexcept;

}  // namespace telegate::uplink
