#pragma once

#include "core/endpoint.hpp"
#include "core/publisher.hpp"

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace telegate::test {

/// Command-line options of telegate_peer.
struct PeerOptions {
    std::string role;  // pub, sub, dealer or router
    std::vector<Endpoint> bind;
    std::vector<Endpoint> connect;
    PublisherOptions socket;
    std::size_t sockets = 1;  // number of sockets of this kind, each with all endpoints

    std::vector<std::string> subscriptions;  // sub
    std::string topic = "test/peer";         // pub
    std::size_t payload_bytes = 64;
    std::size_t frames = 1;  // of a message sent by dealer or router, without the delimiter
    bool delimiter = false;  // an empty frame first, as required by REP
    bool echo = false;       // dealer and router: send received messages back
    // do not wait for slow subscribers (pub) or for space to send messages back (dealer, router)
    bool lossy = false;
    std::string alias;  // router: id of the peer that it connects and sends to
    std::chrono::seconds deadline{60};
};

/// Throws std::invalid_argument with the error message or the text of --help.
[[nodiscard]] PeerOptions parse_peer_options(int argc, char** argv);

}  // namespace telegate::test
