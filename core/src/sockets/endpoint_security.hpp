#pragma once

#include "core/curve.hpp"
#include "core/endpoint.hpp"

#include <memory>

namespace telegate {

/// Returns `security` in the form for PeerTable::bind(). Throws std::invalid_argument for CURVE over inproc. Threads:
/// any.
[[nodiscard]] std::shared_ptr<const Security> security_of(const Endpoint& endpoint, Security security);

}  // namespace telegate
