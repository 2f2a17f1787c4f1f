#pragma once

#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "support/raw_peer.hpp"
#include "support/socket_harness.hpp"
#include "support/stream_pair.hpp"
#include "support/zmtp_text.hpp"

#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace telegate::test {

/// Returns an endpoint that is known before it is bound. For tcp: an address of this process alone, with a port found
/// free.
[[nodiscard]] inline Endpoint known_endpoint(Transport transport, const ScratchDir& scratch) {
    Endpoint endpoint = fresh_endpoint(transport, scratch.path());
    if (transport == Transport::tcp) {
        const auto process = static_cast<unsigned>(::getpid());
        endpoint.host = "127." + std::to_string(1 + (process >> 16U) % 250) + '.' +
                        std::to_string((process >> 8U) & 255U) + '.' + std::to_string(process & 255U);
        Reactor reactor;
        Router finder(reactor, {});
        endpoint = finder.bind(endpoint);
    }
    return endpoint;
}

/// Retries at once, so that a test does not wait.
[[nodiscard]] inline SocketOptions impatient(std::string identity = {}) {
    SocketOptions options;
    options.identity = std::move(identity);
    options.reconnect_first = std::chrono::milliseconds(2);
    options.reconnect_max = std::chrono::milliseconds(10);
    return options;
}

inline constexpr std::size_t model_backlog_bytes = 24 * 1024;

/// For model tests, so that limits are reached often.
[[nodiscard]] inline SocketOptions with_small_backlog(SocketOptions options) {
    options.backlog_bytes_max = model_backlog_bytes;
    options.segment_bytes = 2 * 1024;
    return options;
}

/// A peer of raw bytes that has completed its handshake, and what it has read since.
class RawSession {
  public:
    /// `hello`: everything that the other side sends before anything else. With `receive_buffer_bytes` 0 the system's
    /// size is kept.
    RawSession(Bench& bench, const Endpoint& endpoint, std::string introduction, std::string hello,
               int receive_buffer_bytes = 0)
        : peer(endpoint, receive_buffer_bytes), hello_(std::move(hello)) {
        peer.send(introduction);
        const bool done = bench.turn_until([&] { return peer.read(hello_.size() - peer.received().size()) == hello_; });
        REQUIRE(done);
    }
    std::string read() { return peer.read().substr(hello_.size()); }

    RawPeer peer;

  private:
    std::string hello_;
};

/// Returns what our sockets send before anything else.
[[nodiscard]] inline std::string hello_of(std::string_view socket_type) {
    return greeting() + (socket_type == "SUB" ? ready(socket_type) : ready(socket_type, ""));
}

/// A reactor on its own thread, with one socket that only this thread uses.
///
/// Threads: the constructor, on() and the destructor one. Limits: none. Failure: `make` may throw, in the constructor.
template <class Socket>
class SocketThread {
  public:
    explicit SocketThread(SocketOptions options, const std::function<void(Socket&)>& set_up)
        : socket(std::make_unique<Socket>(reactor, std::move(options))) {
        set_up(*socket);
        thread = std::thread([this] { reactor.run(); });
    }
    ~SocketThread() {
        reactor.post([this] {
            socket.reset();
            reactor.stop();
        });
        thread.join();
    }
    SocketThread(const SocketThread&) = delete;
    SocketThread& operator=(const SocketThread&) = delete;

    Reactor reactor;
    std::unique_ptr<Socket> socket;
    std::thread thread;
};

}  // namespace telegate::test
