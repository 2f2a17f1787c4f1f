#pragma once

#include "config/payload_format.hpp"
#include "core/publisher.hpp"

namespace telegate {

/// A format and its publisher.
struct FormatPublisher {
    PayloadFormat format;
    Publisher& publisher;
};

}  // namespace telegate
