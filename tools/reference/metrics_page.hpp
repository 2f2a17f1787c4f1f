#pragma once

#include <string>

namespace telegate::reference {

/// Returns docs/metrics.md: `page`, which ends with the header of the table, followed by the rows of the table.
[[nodiscard]] std::string with_metrics(std::string page);

}  // namespace telegate::reference
