#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace telegate::uplink {

/// The kinds of content that a file with credentials may have.
struct NatsToken {
    std::string token;
};
struct NatsUser {
    std::string user;
    std::string password;
};
struct NatsNkey {
    std::string public_key;
    std::string seed;
};
struct NatsJwt {  // a .creds file
    std::string jwt;
    std::string seed;
};
using NatsCredentials = std::variant<NatsToken, NatsUser, NatsNkey, NatsJwt>;

/// Throws std::runtime_error if the content is of none of these kinds. Threads: any.
[[nodiscard]] NatsCredentials read_credentials(std::string_view content, const std::string& path);

/// Returns the public key of the seed of a user's nkey, which begins with SU; nullopt: not such a seed. Threads: any.
/// Failure: throws std::bad_alloc.
[[nodiscard]] std::optional<std::string> nkey_public_key(std::string_view seed);

/// Returns the signature of a text by such a seed, in Base64 for URLs; nullopt: not such a seed. Threads: any. Failure:
/// throws std::bad_alloc.
[[nodiscard]] std::optional<std::string> nkey_signature(std::string_view seed, std::string_view text);

}  // namespace telegate::uplink
