#pragma once

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

}  // namespace telegate::uplink
