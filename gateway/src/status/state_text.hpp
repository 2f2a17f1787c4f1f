#pragma once

#include "log/log_line.hpp"
#include "status/health.hpp"
#include "status/status.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace telegate {

/// Subscribers that state_lines() names; of more it tells how many.
inline constexpr std::size_t subscriber_lines_max = 32;

/// The state of the gateway as lines for the log. Without a snapshot they say that the io thread did not answer.
[[nodiscard]] std::vector<LogLine> state_lines(const Health& health, const std::optional<StatusSnapshot>& snapshot);

}  // namespace telegate
