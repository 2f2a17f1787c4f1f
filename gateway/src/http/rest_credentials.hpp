#pragma once

#include "http/access_tokens.hpp"
#include "http/tls_context.hpp"

#include <cstddef>
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

}  // namespace telegate
