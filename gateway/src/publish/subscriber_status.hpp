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
    std::optional<std::size_t> clients = {};  // with CURVE: number of authorized keys; nullopt: any key
    Delivery delivery = {};
    bool last_value = false;
};

/// A sample that a subscriber did not receive; seq 0: none.
struct LostSample {
    std::string topic = {};
    std::uint64_t seq = 0;
};

/// The status of a subscriber. Its `id` is unique among the subscribers of its format.
struct SubscriberStatus : PeerStatus {
    PayloadFormat format = PayloadFormat::json;
    std::array<std::pair<LostSample, LostSample>, loss_reasons> lost{};  // first and last, by reason
};

/// The counters of the publisher of one format; they never decrease.
struct FormatTotals : PublisherTotals {
    PayloadFormat format = PayloadFormat::json;
};

}  // namespace telegate
