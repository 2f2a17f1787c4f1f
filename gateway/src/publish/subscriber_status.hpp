#pragma once

#include "config/payload_format.hpp"
#include "core/publisher.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace telegate {

struct EndpointStatus {
    std::string endpoint;  // as bound
    PayloadFormat format = PayloadFormat::json;
    std::string curve_key = {};               // its public key in Z85; "" without CURVE
    std::optional<std::size_t> clients = {};  // with CURVE: how many keys are let in; nullopt: any
    Delivery delivery = {};
    bool last_value = false;
};

/// A sample that a subscriber has not got; seq 0: none.
struct LostSample {
    std::string topic = {};
    std::uint64_t seq = 0;
};

/// Its `id` counts the subscribers of its format.
struct SubscriberStatus : PeerStatus {
    PayloadFormat format = PayloadFormat::json;
    std::array<std::pair<LostSample, LostSample>, loss_reasons> lost{};  // first and last, by reason
};

/// What the publisher of one format has counted; it never falls.
struct FormatTotals : PublisherTotals {
    PayloadFormat format = PayloadFormat::json;
};

}  // namespace telegate
