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

/// Those of an engine, without those that have no run: they were not measured.
std::vector<const Series*> series_of(const Cell& cell, std::string_view engine) {
    std::vector<const Series*> found;
    for (const Series& series : cell.series) {
        if (series.engine == engine && !series.rates.empty()) {
            found.push_back(&series);
        }
    }
    return found;
}

const Series* best_of(const std::vector<const Series*>& those, bool lower_is_better) {
    const Series* best = nullptr;
    double best_median = 0;
    for (const Series* const series : those) {
        const double median = spread_of(series->rates).median;
        if (best == nullptr || (lower_is_better ? median < best_median : median > best_median)) {
            best = series;
            best_median = median;
        }
    }
    return best;
}

}  // namespace

Standing standing_in(const Cell& cell, bool lower_is_better) {
    return standings_in(cell, lower_is_better).front();
}

std::vector<Standing> standings_in(const Cell& cell, bool lower_is_better) {
    std::vector<const Series*> ours = series_of(cell, "telegate");
    if (ours.empty()) {
        ours.push_back(nullptr);
    }
    const std::vector<const Series*> libzmq = series_of(cell, "libzmq");
    std::vector<Standing> standings;
    for (const Series* const telegate : ours) {
        Standing& standing = standings.emplace_back();
        standing.telegate = telegate;
        standing.libzmq = libzmq.empty() ? nullptr : libzmq.front();
        standing.libzmq_best = best_of(libzmq, lower_is_better);
        standing.raw = best_of(series_of(cell, "raw"), lower_is_better);
        const auto ahead_of = [&](const Series* other) {
            return lower_is_better ? run_by_run(other, telegate) : run_by_run(telegate, other);
        };
        standing.over_libzmq = ahead_of(standing.libzmq);
        standing.over_libzmq_best = ahead_of(standing.libzmq_best);
        standing.of_raw = run_by_run(telegate, standing.raw);
    }
    return standings;
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
