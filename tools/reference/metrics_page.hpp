#pragma once

#include <string>

namespace telegate::reference {

/// docs/metrics.md: `page`, which ends with the head of the table, and the table.
[[nodiscard]] std::string with_metrics(std::string page);

}  // namespace telegate::reference
