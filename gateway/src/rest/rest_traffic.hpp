#pragma once

#include "metrics/metrics_table.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace telegate {

/// Counts requests by path and status. Only paths of the table are counted individually, so clients cannot create new
/// counters.
///
/// Threads: any. Limits: a counter for each path and known status; other statuses count as 500 or 400. Failure: none.
class RestTraffic {
  public:
    RestTraffic();

    /// Counts a request. `row` is that of the path in rest_table(), or no_row.
    void count(std::size_t row, int status) noexcept;
    /// Returns the counters that are not zero.
    [[nodiscard]] std::vector<RequestCount> counts() const;

    static constexpr std::size_t no_row = SIZE_MAX;

  private:
    static constexpr std::array<int, 18> statuses{200, 204, 400, 401, 403, 404, 405, 406, 409,
                                                  412, 413, 415, 422, 428, 429, 500, 501, 503};

    const std::size_t rows_;
    std::unique_ptr<std::atomic<std::uint64_t>[]> cells_;  // by row, then status; after the last row: unknown paths
};

}  // namespace telegate
