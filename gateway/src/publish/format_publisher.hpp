#pragma once

#include "config/payload_format.hpp"
#include "core/publisher.hpp"

namespace telegate {

/// One format and who publishes in it.
struct FormatPublisher {
    PayloadFormat format;
    Publisher& publisher;
};

}  // namespace telegate
