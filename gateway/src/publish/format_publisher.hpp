#pragma once

#include "core/publisher.hpp"
#include "encode/payload_format.hpp"

namespace telegate {

/// One format and who publishes in it.
struct FormatPublisher {
    PayloadFormat format;
    Publisher& publisher;
};

}  // namespace telegate
