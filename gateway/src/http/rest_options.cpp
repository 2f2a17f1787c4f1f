#include "http/rest_options.hpp"

#include "config/credential_path.hpp"

#include <sodium.h>

#include <fstream>
#include <functional>
#include <iterator>
#include <string_view>

namespace telegate {
namespace {

/// Returns a fingerprint of the content of the file combined with `before`.
std::size_t fingerprint_of(const std::string& path, std::size_t before) {
    std::ifstream file(path);
    std::string bytes(std::istreambuf_iterator<char>(file), {});
    const std::size_t after = std::hash<std::string_view>()(bytes) ^ (before * 31);
    ::sodium_memzero(bytes.data(), bytes.size());
    return after;
}

}  // namespace

RestCredentials::RestCredentials(const RestCredentialPaths& paths) {
    if (!paths.tokens_file.empty()) {
        tokens.emplace(AccessTokens::load(paths.tokens_file));
    }
    if (!paths.tls.certificate.empty()) {
        // If tokens are configured, a client without a certificate can still use a token.
        tls = std::make_shared<const TlsContext>(paths.tls, !tokens);
        knows_clients = !paths.tls.client_ca.empty();
    }
    const std::string tokens_path = paths.tokens_file.empty() ? "" : credential_path(paths.tokens_file);
    for (const std::string& path : {tokens_path, paths.tls.certificate, paths.tls.key, paths.tls.client_ca}) {
        fingerprint = path.empty() ? fingerprint : fingerprint_of(path, fingerprint);
    }
}

}  // namespace telegate
