#pragma once

#include "core/endpoint.hpp"
#include "core/publisher.hpp"
#include "interop/peer/traffic.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace telegate::test {

/// All that a peer tells about itself.
struct PeerReport {
    std::vector<Endpoint> endpoints;
    PublisherTotals totals;         // summed over the sockets; the publisher's own are 0 for the others
    std::vector<PeerStatus> peers;  // of all sockets
    TrafficCounts received;
    std::uint64_t numbered = 0;                   // messages sent, or published
    std::uint64_t to_send = 0;                    // asked for and not sent yet
    std::uint64_t not_sent_back = 0;              // came to be echoed, but its peer had no room or was gone
    std::map<std::string, std::uint64_t> events;  // by kind
    std::map<std::string, std::string> details;   // the last of each kind
};

/// Adds up, so that totals of several sockets can be told as one.
void add_totals(SocketTotals& sum, const SocketTotals& totals) noexcept;

/// One line of JSON. Bytes that are no text come in hexadecimal notation.
[[nodiscard]] std::string to_json(const PeerReport& report);

}  // namespace telegate::test
