#pragma once

#include "core/endpoint.hpp"

namespace telegate::tail {

/// Returns `endpoint` with its host name replaced by a numeric address; other endpoints are returned unchanged. Blocks
/// while the name is resolved. Throws std::runtime_error that names the host.
[[nodiscard]] Endpoint resolved(Endpoint endpoint);

}  // namespace telegate::tail
