#pragma once

#include "http/http_message.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace telegate {

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

/// The identity and role that the server assigns to a peer.
struct HttpIdentity {
    HttpRole role = HttpRole::admin;
    std::string who = {};
};
/// Identifies a peer from its address and its Authorization field, "" if there is none. Called for each request.
using HttpIdentify = std::function<HttpIdentity(const HttpPeer& peer, std::string_view authorization)>;

/// Returns whether requests for this path are answered before others, as health checks are.
using HttpGoesFirst = std::function<bool(std::string_view path)>;

/// The callbacks of a server. All may be called by several threads at once.
struct HttpCalls {
    HttpHandler handler;            // on a worker; on the I/O thread for prioritized paths
    HttpIdentify identify = {};     // on the I/O thread; if unset, every peer is an admin, named by its address
    HttpGoesFirst goes_first = {};  // on the I/O thread; if unset, no path is prioritized
};

}  // namespace telegate
