#pragma once

#include "status/status.hpp"

#include <string>

namespace telegate {

/// Returns the body of GET /status; its structure is documented in docs/rest.md and stable. Threads: any.
[[nodiscard]] std::string status_json(const StatusSnapshot& snapshot);

}  // namespace telegate
