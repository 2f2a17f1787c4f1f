#include "rest_server.hpp"

#include "http_server.hpp"
#include "rest_routes.hpp"

#include <utility>

namespace telegate {
namespace {

HttpServerOptions server_options(RestOptions&& options) {
    HttpServerOptions server;
    server.host = std::move(options.host);
    server.port = options.port;
    server.workers = RestServer::workers;
    server.limits.body_bytes_max = RestServer::body_bytes_max;
    return server;
}

}  // namespace

struct RestServer::State {
    State(RestOptions&& options, RestHandlers&& given)
        : handlers(std::move(given)), server(server_options(std::move(options)), [this](const HttpRequest& request) {
              return answer_rest(handlers, request);
          }) {}

    const RestHandlers handlers;
    HttpServer server;
};

RestServer::RestServer(RestOptions options, RestHandlers handlers)
    : state_(std::make_unique<State>(std::move(options), std::move(handlers))) {}

RestServer::~RestServer() = default;

void RestServer::start() {
    state_->server.start();
}

void RestServer::stop() {
    state_->server.stop();
}

void RestServer::wake_streams() noexcept {
    state_->server.wake_streams();
}

const std::string& RestServer::address() const noexcept {
    return state_->server.address();
}

}  // namespace telegate
