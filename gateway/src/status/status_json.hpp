#pragma once

#include "status/status.hpp"

#include <string>

namespace telegate {

class JsonObject;

/// Adds the members of GET /status; docs/rest.md documents them, and they are stable. Threads: any.
void list_status(JsonObject& out, const StatusSnapshot& snapshot);
/// Returns the body of GET /status. Threads: any.
[[nodiscard]] std::string status_json(const StatusSnapshot& snapshot);

}  // namespace telegate
