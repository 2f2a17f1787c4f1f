#pragma once

#include "config/payload_format.hpp"
#include "core/delivery.hpp"
#include "core/endpoint.hpp"

#include <memory>
#include <string>

namespace telegate {

struct CurveServer;

/// An endpoint of ours and what is published there.
struct FormatEndpoint {
    Endpoint endpoint;
    PayloadFormat format = PayloadFormat::json;
    std::string name = {};                               // of its section
    int adopted = -1;                                    // a socket that listens there already and now is ours
    std::shared_ptr<const CurveServer> curve = nullptr;  // null: the mechanism NULL
    Delivery delivery = {};                              // for who reads too slowly
    bool last_value = false;                             // a new subscription first gets last values
};

}  // namespace telegate
