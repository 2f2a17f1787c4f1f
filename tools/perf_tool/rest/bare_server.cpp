#include "bare_server.hpp"

#include <httplib.h>

#include <cstddef>
#include <limits>
#include <stdexcept>
#include <thread>
#include <utility>

namespace telegate::perf {

struct BareServer::State {
    httplib::Server server;
    std::thread thread;
};

BareServer::BareServer(std::string body) : state_(std::make_unique<State>()) {
    httplib::Server& server = state_->server;
    server.set_keep_alive_max_count(std::numeric_limits<std::size_t>::max());
    server.set_tcp_nodelay(true);
    server.Get("/status", [body = std::move(body)](const httplib::Request&, httplib::Response& response) {
        response.set_content(body, "application/json");
    });
    const int port = server.bind_to_any_port("127.0.0.1");
    if (port <= 0) {
        throw std::runtime_error("the bare server has no port");
    }
    address_ = "127.0.0.1:" + std::to_string(port);
    state_->thread = std::thread([this] { state_->server.listen_after_bind(); });
}

BareServer::~BareServer() {
    state_->server.stop();
    state_->thread.join();
}

}  // namespace telegate::perf
