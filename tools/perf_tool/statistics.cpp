#include "statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace telegate::perf {

Spread spread_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t middle = values.size() / 2;
    const double median = values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
    return {median, values.front(), values.back()};
}

Row ratio(std::string name, const Row& over, const Row& under) {
    Row row{std::move(name), {}};
    for (std::size_t run = 0; run < over.values.size(); ++run) {
        row.values.push_back(over.values[run] / under.values[run]);
    }
    return row;
}

}  // namespace telegate::perf
