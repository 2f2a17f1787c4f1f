#pragma once

#include "config/payload_format.hpp"
#include "core/delivery.hpp"
#include "core/endpoint.hpp"

#include <memory>
#include <string>

namespace telegate {

struct CurveServer;

/// A bound endpoint and what is published there.
struct FormatEndpoint {
    Endpoint endpoint;
    PayloadFormat format = PayloadFormat::json;
    std::string name = {};                               // of its section
    int adopted = -1;                                    // inherited listening socket; -1: none
    std::shared_ptr<const CurveServer> curve = nullptr;  // null: NULL mechanism
    Delivery delivery = {};                              // for slow subscribers
    bool last_value = false;                             // a new subscription receives the last values first
};

}  // namespace telegate
