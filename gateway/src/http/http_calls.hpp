#pragma once

#include "http/http_message.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace telegate {

using HttpHandler = std::function<HttpResponse(const HttpRequest&)>;

/// Who a peer is taken for.
struct HttpIdentity {
    HttpRole role = HttpRole::admin;
    std::string who = {};
};
/// From the peer and the Authorization field, "" when there is none. Called for each request.
using HttpIdentify = std::function<HttpIdentity(const HttpPeer& peer, std::string_view authorization)>;

/// Whether requests for this path are answered before others, as health checks are.
using HttpGoesFirst = std::function<bool(std::string_view path)>;

/// What a server answers requests with. All may be called by several threads at once.
struct HttpCalls {
    HttpHandler handler;            // on a worker; on the I/O thread for paths that go first
    HttpIdentify identify = {};     // on the I/O thread; none: everybody is an admin, named by the address
    HttpGoesFirst goes_first = {};  // on the I/O thread; none: no path does
};

}  // namespace telegate
