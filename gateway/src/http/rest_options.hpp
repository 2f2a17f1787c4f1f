#pragma once

#include "base/rate_limit.hpp"
#include "http/access_tokens.hpp"
#include "http/http_limits.hpp"
#include "http/tls_context.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace telegate {

/// The files with which peers authenticate. "" for those that are not used.
struct RestCredentialPaths {
    std::string tokens_file = {};
    TlsPaths tls = {};
};

/// The content of the credential files. Throws std::runtime_error, which names the file.
struct RestCredentials {
    explicit RestCredentials(const RestCredentialPaths& paths);

    std::optional<AccessTokens> tokens;
    std::shared_ptr<const TlsContext> tls;
    bool knows_clients = false;  // by their certificates
    /// Fingerprint of the content of all files; 0 if there are none.
    std::size_t fingerprint = 0;
};

struct RestAccessLimits {
    // PUT, POST, PATCH and DELETE of a client for one path of the API; for users and scripts, not a data path. A script
    // that changes settings without a pause does not keep its user from stopping a device.
    Rate changes{50, 100};
    Rate failures{1, 10};              // wrong tokens per client: enough for typos, too few for guessing
    std::size_t addresses_max = 256;   // with counted failures; the one that failed longest ago is forgotten first
    std::size_t changers_max = 1'024;  // counted clients and paths; likewise
};

struct RestOptions {
    std::string host = "127.0.0.1";  // "": no TCP
    std::uint16_t port = 8080;       // 0: any free port
    std::string unix_socket = {};    // a path; "": none
    int adopted_socket = -1;         // a listening socket, used instead of host and port; -1: none
    RestCredentialPaths credentials = {};
    std::size_t connections_max = HttpLimits().connections_max;  // not counting streams
    std::size_t streams_max = 16;
    RestAccessLimits limits = {};
};

}  // namespace telegate
