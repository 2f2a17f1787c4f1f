#include "standing.hpp"

#include "../statistics.hpp"

#include <algorithm>
#include <cstddef>

namespace telegate::perf {

namespace {

std::vector<double> run_by_run(const Series* over, const Series* under) {
    std::vector<double> values;
    if (over == nullptr || under == nullptr) {
        return values;
    }
    const std::size_t runs = std::min(over->rates.size(), under->rates.size());
    for (std::size_t run = 0; run < runs; ++run) {
        values.push_back(over->rates[run] / under->rates[run]);
    }
    return values;
}

/// The first series of an engine, or the best one. A series without a run was not measured.
const Series* first_of(const Cell& cell, std::string_view engine) {
    const auto found = std::ranges::find_if(
        cell.series, [engine](const Series& series) { return series.engine == engine && !series.rates.empty(); });
    return found == cell.series.end() ? nullptr : &*found;
}

const Series* best_of(const Cell& cell, std::string_view engine, bool lower_is_better) {
    const Series* best = nullptr;
    double best_median = 0;
    for (const Series& series : cell.series) {
        if (series.engine != engine || series.rates.empty()) {
            continue;
        }
        const double median = spread_of(series.rates).median;
        if (best == nullptr || (lower_is_better ? median < best_median : median > best_median)) {
            best = &series;
            best_median = median;
        }
    }
    return best;
}

}  // namespace

Standing standing_in(const Cell& cell, bool lower_is_better) {
    Standing standing;
    standing.telegate = first_of(cell, "telegate");
    standing.libzmq = first_of(cell, "libzmq");
    standing.libzmq_best = best_of(cell, "libzmq", lower_is_better);
    standing.raw = best_of(cell, "raw", lower_is_better);
    const auto ahead_of = [&](const Series* other) {
        return lower_is_better ? run_by_run(other, standing.telegate) : run_by_run(standing.telegate, other);
    };
    standing.over_libzmq = ahead_of(standing.libzmq);
    standing.over_libzmq_best = ahead_of(standing.libzmq_best);
    standing.of_raw = run_by_run(standing.telegate, standing.raw);
    return standing;
}

std::vector<Group> groups_of(const Matrix& matrix) {
    std::vector<Group> groups;
    for (const Cell& cell : matrix.cells) {
        const auto known = std::ranges::find(groups, std::string_view(cell.group), &Group::name);
        if (known == groups.end()) {
            groups.push_back({cell.group, {&cell}});
        } else {
            known->cells.push_back(&cell);
        }
    }
    return groups;
}

}  // namespace telegate::perf
