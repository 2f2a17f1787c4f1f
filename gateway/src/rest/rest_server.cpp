#include "rest/rest_server.hpp"

#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"
#include "rest/rest_routes.hpp"
#include "status/status_json.hpp"

#include <mutex>

namespace telegate {

RestServer::RestServer(RestOptions options, RestHandlers handlers)
    : handlers_(std::move(handlers)),
      status_([this] { return render_status(); }),
      access_(options.credentials, options.limits),
      server_(server_options(std::move(options)), calls()),
      address_(server_.address()) {
    handlers_.status_body = [this] {
        return status_body();
    };
    handlers_.role_without_credentials = [this](const HttpRequest& request) {
        return access_.identify({request.peer->address, request.peer->uid, {}}, {}).role;
    };
    handlers_.http = [this] {
        return server_.figures();
    };
}

StatusCache::Text RestServer::render_status() const {
    const std::optional<StatusSnapshot> snapshot = handlers_.snapshot();
    return snapshot ? std::make_shared<const std::string>(status_json(*snapshot)) : nullptr;
}

HttpServerOptions RestServer::server_options(RestOptions options) {
    HttpServerOptions result;
    result.host = std::move(options.host);
    result.port = options.port;
    result.unix_socket = std::move(options.unix_socket);
    result.adopted_socket = options.adopted_socket;
    result.workers = workers;
    result.limits.connections_max = options.connections_max;
    result.limits.streams_max = options.streams_max;
    result.tls = [this] {
        return access_.tls();
    };
    return result;
}

HttpCalls RestServer::calls() {
    return {.handler = [this](const HttpRequest& request) { return answer(request); },
            .identify = [this](const HttpPeer& peer,
                               std::string_view authorization) { return access_.identify(peer, authorization); },
            .goes_first = is_health_path};
}

HttpResponse RestServer::answer(const HttpRequest& request) {
    if (auto refusal = access_.refuse(request)) {
        return std::move(*refusal);
    }
    if (is_health_path(request.path)) {
        return answer_rest(handlers_, request);
    }
    const std::shared_lock lock(answering_);
    if (is_closed_) {
        return unavailable(request, "the gateway is stopping");
    }
    HttpResponse response = answer_rest(handlers_, request);
    if (response.status == 401) {
        return access_.refuse_guess(request).value_or(std::move(response));
    }
    if (is_change(request)) {
        status_.drop();  // so that the client sees its own change
    }
    return response;
}

void RestServer::close() {
    is_closed_ = true;
    const std::unique_lock answers_in_hand(answering_);
}

}  // namespace telegate
