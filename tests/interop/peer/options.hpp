#pragma once

#include "core/endpoint.hpp"
#include "core/publisher.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace telegate::test {

/// The command line of telegate_peer.
struct PeerOptions {
    std::string role;  // pub, sub, dealer or router
    std::vector<Endpoint> bind;
    std::vector<Endpoint> connect;
    PublisherOptions socket;
    std::size_t sockets = 1;  // as many of the same kind, each with all endpoints

    std::vector<std::string> subscriptions;  // sub
    std::string topic = "test/peer";         // pub
    std::size_t payload_bytes = 64;
    std::size_t frames = 1;  // of a message that dealer or router sends, the delimiter not counted
    bool delimiter = false;  // an empty frame first, as REP wants it
    bool echo = false;       // dealer and router: send back what comes
    bool lossy = false;      // do not wait for slow subscribers (pub), nor with what is sent back (dealer, router)
    std::string alias;       // router: of what it connects to, and sends to
    std::chrono::seconds deadline{60};
};

/// Throws std::invalid_argument with what is wrong, or what --help asked for.
[[nodiscard]] PeerOptions parse_peer_options(int argc, char** argv);

}  // namespace telegate::test
