#include "rest/rest_server.hpp"

#include "http/http_server.hpp"
#include "rest/rest_access.hpp"
#include "rest/rest_refusals.hpp"
#include "rest/rest_route.hpp"
#include "rest/rest_routes.hpp"
#include "rest/status_cache.hpp"
#include "status/status_json.hpp"

#include <atomic>
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <utility>

namespace telegate {

struct RestServer::State {
    State(RestOptions&& options, RestHandlers&& given)
        : address(),
          handlers(std::move(given)),
          status([this] { return render_status(); }),
          access(std::move(options.credentials), options.limits),
          server(server_options(std::move(options)), calls()) {
        handlers.status_body = [this] {
            return status.get(std::chrono::steady_clock::now());
        };
        handlers.role_without_credentials = [this](const HttpRequest& request) {
            return access.identify({request.peer->address, request.peer->uid, {}}, {}).role;
        };
        handlers.http = [this] {
            return server.figures();
        };
        address = server.address();
    }

    StatusCache::Text render_status() const {
        const std::optional<StatusSnapshot> snapshot = handlers.snapshot();
        return snapshot ? std::make_shared<const std::string>(status_json(*snapshot)) : nullptr;
    }

    HttpServerOptions server_options(RestOptions&& options) {
        HttpServerOptions result;
        result.host = std::move(options.host);
        result.port = options.port;
        result.unix_socket = std::move(options.unix_socket);
        result.adopted_socket = options.adopted_socket;
        result.workers = RestServer::workers;
        result.limits.connections_max = options.connections_max;
        result.limits.streams_max = options.streams_max;
        result.tls = [this] {
            return access.tls();
        };
        return result;
    }

    HttpCalls calls() {
        return {.handler = [this](const HttpRequest& request) { return answer(request); },
                .identify = [this](const HttpPeer& peer,
                                   std::string_view authorization) { return access.identify(peer, authorization); },
                .goes_first = is_health_path};
    }

    HttpResponse answer(const HttpRequest& request) {
        if (auto refusal = access.refuse(request)) {
            return std::move(*refusal);
        }
        if (is_health_path(request.path)) {
            return answer_rest(handlers, request);
        }
        const std::shared_lock lock(answering);
        if (is_closed) {
            return unavailable(request, "the gateway is stopping");
        }
        HttpResponse response = answer_rest(handlers, request);
        if (response.status == 401) {
            return access.refuse_guess(request).value_or(std::move(response));
        }
        if (is_change(request)) {
            status.drop();  // so that the client sees its own change
        }
        return response;
    }

    std::atomic<bool> is_closed{false};
    std::shared_mutex answering;  // held by all handlers except health checks

    std::string address;
    RestHandlers handlers;  // constant while the server runs
    StatusCache status;
    RestAccess access;
    HttpServer server;
};

RestServer::RestServer(RestOptions options, RestHandlers handlers)
    : state_(std::make_unique<State>(std::move(options), std::move(handlers))) {}

RestServer::~RestServer() = default;

void RestServer::start() {
    state_->server.start();
}

void RestServer::close() {
    state_->is_closed = true;
    const std::unique_lock answers_in_hand(state_->answering);
}

void RestServer::stop_after_streams(MonoTime until, std::function<void()> done) {
    state_->server.stop_after_streams(until, std::move(done));
}

void RestServer::stop() {
    state_->server.stop();
}

void RestServer::wake_streams() noexcept {
    state_->server.wake_streams();
}

std::shared_ptr<const std::string> RestServer::status_body() {
    return state_->handlers.status_body();
}

CredentialsRead RestServer::reload_credentials() {
    return state_->access.reload();
}

const std::string& RestServer::address() const noexcept {
    return state_->address;
}

std::vector<std::string> RestServer::urls() const {
    return state_->server.urls();
}

}  // namespace telegate
