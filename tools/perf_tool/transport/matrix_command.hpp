#pragma once

#include "engine.hpp"
#include "results.hpp"
#include "selection.hpp"

#include <cstddef>
#include <vector>

namespace telegate::perf {

/// The engines that were asked for and are there.
[[nodiscard]] std::vector<Engine> engines_of(const EngineSelection& selection);

/// Fills the cells and adds how that was done to the parameters. The progress goes to stderr: a line that changes on a
/// terminal, a line for each cell elsewhere.
[[nodiscard]] Matrix measure_matrix(Matrix matrix, const EngineSelection& selection, std::size_t runs);

}  // namespace telegate::perf
