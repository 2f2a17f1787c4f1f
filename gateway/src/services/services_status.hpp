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

/// What the services have done since the start.
struct ServiceCounts {
    std::array<std::uint64_t, service_kinds> requests{};  // understood
    std::array<std::uint64_t, service_errors> errors{};   // answers that told one
    std::uint64_t replays_done = 0;
    std::uint64_t samples_replayed = 0;
    std::uint64_t answers_lost = 0;  // who had asked was gone, or there was no memory
};

struct ServicesStatus : ServiceCounts {
    struct Place {
        std::string endpoint;                     // as bound
        std::string curve_key = {};               // its public key in Z85; "" without CURVE
        std::optional<std::size_t> clients = {};  // with CURVE: how many keys are let in; nullopt: any
    };
    std::vector<Place> endpoints;  // in the order of the settings
    std::size_t peers = 0;
    std::uint64_t peers_revoked = 0;
    std::size_t replays_at_work = 0;
    std::size_t backlog_bytes = 0;  // answers that wait to be read
    SocketTotals totals;
};

}  // namespace telegate
