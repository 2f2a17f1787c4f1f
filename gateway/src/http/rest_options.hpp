#pragma once

#include "base/rate_limit.hpp"
#include "http/http_limits.hpp"
#include "http/rest_credentials.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace telegate {

struct RestAccessLimits {
    Rate changes{50, 100};            // PUT, POST, PATCH and DELETE of all clients; people and scripts, not a data path
    Rate failures{1, 10};             // wrong tokens from one address: typing, not guessing
    std::size_t addresses_max = 256;  // that failures are counted for; the one that failed longest ago gives way
};

struct RestOptions {
    std::string host = "127.0.0.1";  // "": no TCP
    std::uint16_t port = 8080;       // 0: any free one
    std::string unix_socket = {};    // a path; "": none
    int adopted_socket = -1;         // one that listens already, in place of host and port; -1: none
    RestCredentialPaths credentials = {};
    std::size_t connections_max = HttpLimits().connections_max;  // besides streams
    std::size_t streams_max = 16;
    RestAccessLimits limits = {};
};

}  // namespace telegate
