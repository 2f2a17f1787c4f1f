#pragma once

#include "network/host_port.hpp"

#include <string>
#include <string_view>

namespace telegate::http {

struct Url {
    bool is_tls = false;
    network::HostPort server = {};
    std::string target = {};  // path and query; begins with /
    std::string shown = {};   // without the query, which may contain secrets
};

/// Parses a URL. Throws std::invalid_argument with the text and what is allowed.
[[nodiscard]] Url parse_url(std::string_view text);

}  // namespace telegate::http
