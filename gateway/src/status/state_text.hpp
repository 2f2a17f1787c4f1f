#pragma once

#include "log/log_line.hpp"
#include "status/health.hpp"
#include "status/status.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace telegate {

/// Maximum number of subscribers that state_lines() lists; further ones are counted.
inline constexpr std::size_t subscriber_lines_max = 32;

/// Returns the state of the gateway as lines for the log. Without a snapshot they say that the I/O thread did not
/// respond.
[[nodiscard]] std::vector<LogLine> state_lines(const Health& health, const std::optional<StatusSnapshot>& snapshot);

}  // namespace telegate
