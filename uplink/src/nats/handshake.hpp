#pragma once

#include "uplink/adapter_module.hpp"
#include "uplink/server_url.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace telegate::uplink {

/// The properties of a NATS server.
struct ServerInfo {
    bool has_headers = false;
    bool has_tls = false;    // it offers TLS
    bool needs_tls = false;  // it requires TLS
    std::uint64_t payload_max = 0;
    std::string nonce;  // to be signed by an nkey
};

/// Reads the JSON of an INFO; members that are missing or wrong have their defaults.
[[nodiscard]] ServerInfo read_server_info(std::string_view json);

/// Whether the settings want a connection with TLS.
[[nodiscard]] bool wants_tls(const AdapterSecrets& secrets, const ServerUrl& address) noexcept;

/// Returns the operations that introduce and authenticate a client: CONNECT, and PING, which the server answers once it
/// has accepted the client. Throws std::runtime_error if the credentials cannot be used.
[[nodiscard]] std::string connect_text(const AdapterSecrets& secrets, const ServerInfo& info, const std::string& name,
                                       bool is_secure);

}  // namespace telegate::uplink
