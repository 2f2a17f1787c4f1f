#pragma once

#include "core/endpoint.hpp"

namespace telegate::tail {

/// With a numeric address where the host is a name; everything else as it is. Waits for the name service.
/// Throws std::runtime_error that names the host.
[[nodiscard]] Endpoint resolved(Endpoint endpoint);

}  // namespace telegate::tail
