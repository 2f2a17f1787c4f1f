#pragma once

#include "core/endpoint.hpp"
#include "core/publisher.hpp"
#include "interop/peer/traffic.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace telegate::test {

/// The report of a peer.
struct PeerReport {
    std::vector<Endpoint> endpoints;
    PublisherTotals totals;         // summed over the sockets; counts of the publisher only are 0 for other kinds
    std::vector<PeerStatus> peers;  // of all sockets
    TrafficCounts received;
    std::uint64_t numbered = 0;  // messages sent or published
    std::uint64_t to_send = 0;   // requested but not sent yet
    // received to be echoed, but the peer had no capacity or was disconnected
    std::uint64_t not_sent_back = 0;
    std::map<std::string, std::uint64_t> events;  // by kind
    std::map<std::string, std::string> details;   // last event of each kind
};

/// Adds counts, so that totals of several sockets can be reported together.
void add_totals(SocketTotals& sum, const SocketTotals& totals) noexcept;

/// Returns one line of JSON. Bytes that are not text are in hexadecimal notation.
[[nodiscard]] std::string to_json(const PeerReport& report);

}  // namespace telegate::test
