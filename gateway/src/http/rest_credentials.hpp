#pragma once

#include "http/access_tokens.hpp"
#include "http/tls_context.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

namespace telegate {

/// How peers show who they are. "" for what is not used.
struct RestCredentialPaths {
    std::string tokens_file = {};
    TlsPaths tls = {};
};

/// What has been read from the files. Throws std::runtime_error that names the file.
struct RestCredentials {
    explicit RestCredentials(const RestCredentialPaths& paths);

    std::optional<AccessTokens> tokens;
    std::shared_ptr<const TlsContext> tls;
    bool knows_clients = false;  // by their certificates
    /// Of what all files hold; 0 when there are none.
    std::size_t fingerprint = 0;
};

}  // namespace telegate
