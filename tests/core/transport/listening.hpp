#pragma once

#include "core/reactor.hpp"
#include "support/eventually.hpp"
#include "transport/transport.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace telegate::test {

inline Endpoint tcp_at(const std::string& host, std::uint16_t port = 0) {
    return {Transport::tcp, host, port, ""};
}

inline Endpoint ipc_at(const std::string& path) {
    return {Transport::ipc, "", 0, path};
}

/// A listener and its results. The test runs its event loop.
struct Listening {
    explicit Listening(const Endpoint& endpoint, const SocketOptions& options = {})
        : listener(transport::listen(reactor, endpoint, options, events())) {}

    transport::ListenerEvents events() {
        return {[this](std::unique_ptr<Stream> stream) { accepted.push_back(std::move(stream)); },
                [this](int error) {
                    errors.push_back(error);
                }};
    }
    [[nodiscard]] const Endpoint& endpoint() const { return listener->endpoint(); }
    template <class Condition>
    bool turn_until(Condition condition) {
        return eventually([&] {
            reactor.poll();
            return condition();
        });
    }

    Reactor reactor;
    std::vector<std::unique_ptr<Stream>> accepted;
    std::vector<int> errors;
    std::unique_ptr<transport::Listener> listener;
};

/// One attempt to connect and its result. Uses another object's reactor.
struct Connecting {
    Connecting(Reactor& reactor, const Endpoint& endpoint)
        : connector(transport::connect(reactor, endpoint, [this](std::unique_ptr<Stream> connected, int why) {
              stream = std::move(connected);
              error = why;
              ++calls;
          })) {}

    std::unique_ptr<Stream> stream;
    int error = 0;
    int calls = 0;
    std::unique_ptr<transport::Connector> connector;
};

/// Returns the result of listening: 0 or an errno value. The error must name the endpoint.
inline int listen_error(const Endpoint& endpoint, const SocketOptions& options = {}) {
    try {
        const Listening listening(endpoint, options);
        return 0;
    } catch (const std::system_error& failure) {
        return std::string(failure.what()).find(to_string(endpoint)) != std::string::npos ? failure.code().value() : -1;
    }
}

/// Returns the result of starting to connect: 0 or an errno value.
inline int connect_error(const Endpoint& endpoint) {
    Reactor reactor;
    try {
        const Connecting connecting(reactor, endpoint);
        return 0;
    } catch (const std::system_error& failure) {
        return std::string(failure.what()).find(to_string(endpoint)) != std::string::npos ? failure.code().value() : -1;
    }
}

}  // namespace telegate::test
