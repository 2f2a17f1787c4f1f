#pragma once

#include "results.hpp"

#include <string_view>
#include <vector>

namespace telegate::perf {

/// How Telegate stands in one cell. A pointer is null, and a comparison empty, where an engine was not measured.
///
/// The pointers lead into the cell. Comparisons are taken run by run, and have a value per run.
struct Standing {
    const Series* telegate = nullptr;
    const Series* libzmq = nullptr;       // as reported
    const Series* libzmq_best = nullptr;  // of all variants in this cell, by its median; may be the one as reported
    const Series* raw = nullptr;

    std::vector<double> over_libzmq;  // how many times better: above 1, Telegate is ahead
    std::vector<double> over_libzmq_best;
    std::vector<double> of_raw;  // Telegate over raw: the share of the ceiling; of times, how many times the floor
};

/// Of the first of Telegate's series.
[[nodiscard]] Standing standing_in(const Cell& cell, bool lower_is_better);
/// One for each of Telegate's series, in their order; one without, when there is none.
[[nodiscard]] std::vector<Standing> standings_in(const Cell& cell, bool lower_is_better);

/// The groups of a matrix in the order in which they first appear, each with its cells.
struct Group {
    std::string_view name;
    std::vector<const Cell*> cells;
};
[[nodiscard]] std::vector<Group> groups_of(const Matrix& matrix);

}  // namespace telegate::perf
