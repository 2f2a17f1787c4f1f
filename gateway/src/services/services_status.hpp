#pragma once

#include "core/monitor.hpp"
#include "services/service_request.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telegate {

/// Counters of the services since the start.
struct ServiceCounts {
    std::array<std::uint64_t, service_kinds> requests{};  // valid requests
    std::array<std::uint64_t, service_errors> errors{};   // error replies
    std::uint64_t replays_completed = 0;
    std::uint64_t samples_replayed = 0;
    std::uint64_t replies_lost = 0;  // the requesting peer had disconnected
};

struct ServicesStatus : ServiceCounts {
    struct Place {
        std::string endpoint;                     // as bound
        std::string curve_key = {};               // its public key in Z85; "" without CURVE
        std::optional<std::size_t> clients = {};  // with CURVE: number of authorized keys; nullopt: any key
    };
    std::vector<Place> endpoints;  // in the order of the settings
    std::size_t peers = 0;
    std::uint64_t peers_revoked = 0;
    std::size_t replays_active = 0;
    std::size_t backlog_bytes = 0;  // replies that wait to be read
    SocketTotals totals;
};

}  // namespace telegate
