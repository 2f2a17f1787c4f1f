#include "rest/rest_traffic.hpp"

#include "rest/rest_table.hpp"

#include <algorithm>

namespace telegate {

RestTraffic::RestTraffic()
    : rows_(rest_table().size()),
      cells_(std::make_unique<std::atomic<std::uint64_t>[]>((rows_ + 1) * statuses.size())) {}

void RestTraffic::count(std::size_t row, int status) noexcept {
    const auto* found = std::find(statuses.begin(), statuses.end(), status);
    if (found == statuses.end()) {
        found = std::find(statuses.begin(), statuses.end(), status < 300 ? 200 : status < 500 ? 400 : 500);
    }
    const auto column = static_cast<std::size_t>(found - statuses.begin());
    cells_[std::min(row, rows_) * statuses.size() + column].fetch_add(1, std::memory_order_relaxed);
}

std::vector<RequestCount> RestTraffic::counts() const {
    std::vector<RequestCount> result;
    for (std::size_t row = 0; row <= rows_; ++row) {
        for (std::size_t column = 0; column < statuses.size(); ++column) {
            const std::uint64_t requests = cells_[row * statuses.size() + column].load(std::memory_order_relaxed);
            if (requests > 0) {
                result.push_back({row < rows_ ? rest_table()[row]->path : "other", statuses[column], requests});
            }
        }
    }
    return result;
}

}  // namespace telegate
