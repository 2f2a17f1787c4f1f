#pragma once

#include "nats/nats_handles.hpp"
#include "uplink/adapter_module.hpp"

#include <chrono>
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
    std::string public_key;  // the file has the seed
};
struct NatsJwt {};  // a .creds file, with a JWT and a seed
using NatsCredentials = std::variant<NatsToken, NatsUser, NatsNkey, NatsJwt>;

/// Throws std::runtime_error if the content is of none of these kinds. Threads: any.
[[nodiscard]] NatsCredentials read_credentials(std::string_view content, const std::string& path);

/// Throws std::runtime_error with the reason if a call of libnats has failed. Threads: any.
void check_nats(natsStatus status, const std::string& what);

/// Returns the text of the last error of libnats on this thread, without its place in the source of libnats.
[[nodiscard]] std::string nats_error_text(natsStatus status);

/// Returns the options for a connection to one server: nothing is retried, and libnats has no thread for it. Throws
/// std::exception if a file cannot be read or an option is invalid.
[[nodiscard]] NatsOptions make_connect_options(const AdapterOptions& options, const std::string& url,
                                               std::chrono::milliseconds connect_max);

}  // namespace telegate::uplink
