#pragma once

#include "core/endpoint.hpp"
#include "core/reactor.hpp"
#include "support/eventually.hpp"
#include "transport/transport.hpp"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace telegate::test {

/// The two ends of one connection.
struct StreamPair {
    std::unique_ptr<Stream> accepted;   // belongs to the first reactor
    std::unique_ptr<Stream> connected;  // belongs to the second
};

/// Returns an unused endpoint: a free port of 127.0.0.1, a file in `scratch`, or a new name.
[[nodiscard]] inline Endpoint fresh_endpoint(Transport transport, const std::string& scratch) {
    static std::atomic<unsigned> count{0};
    const std::string name = "fresh-" + std::to_string(++count);
    switch (transport) {
        case Transport::ipc: return {transport, "", 0, scratch + "/" + name};
        case Transport::inproc: return {transport, "", 0, name};
        case Transport::tcp: break;
    }
    return {transport, "127.0.0.1", 0, ""};
}

/// Connects two streams. Runs both reactors, which may be the same, so no other thread may run them meanwhile.
/// `scratch` is a directory for the ipc file, which is removed at the end.
[[nodiscard]] inline StreamPair make_stream_pair(Reactor& a, Reactor& b, Transport transport,
                                                 const std::string& scratch) {
    StreamPair pair;
    int error = 0;
    const auto on_accept = [&pair](std::unique_ptr<Stream> stream) {
        pair.accepted = std::move(stream);
    };
    const auto on_connected = [&pair, &error](std::unique_ptr<Stream> stream, int why) {
        pair.connected = std::move(stream);
        error = why;
    };
    const auto listener =
        transport::listen(a, fresh_endpoint(transport, scratch), SocketOptions{}, {on_accept, [](int) {
                                                                                   }});
    const auto connector = transport::connect(b, listener->endpoint(), on_connected);
    const bool done = eventually([&] {
        a.poll();
        b.poll();
        return error != 0 || (pair.accepted && pair.connected);
    });
    if (!done || error != 0) {
        throw std::runtime_error("no stream pair over " + to_string(listener->endpoint()) + ": " +
                                 std::to_string(error));
    }
    return pair;
}

}  // namespace telegate::test
