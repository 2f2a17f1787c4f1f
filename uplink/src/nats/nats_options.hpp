#pragma once

#include "config/payload_format.hpp"

#include <string>

namespace telegate::uplink {

/// The settings of uplinks to NATS.
struct NatsOptions {
    std::string subject = "telegate.samples";
    MessageFormat format = MessageFormat::json;
};

}  // namespace telegate::uplink
