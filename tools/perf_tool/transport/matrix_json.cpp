#include "../statistics.hpp"
#include "../surroundings.hpp"
#include "matrix_report.hpp"
#include "standing.hpp"
#include "tables.hpp"

#include <nlohmann/json.hpp>

#include <ostream>
#include <vector>

namespace telegate::perf {

namespace {

using nlohmann::ordered_json;

/// JSON knows no infinities; nlohmann writes null for them.
ordered_json json_of(const std::vector<double>& values) {
    if (values.empty()) {
        return nullptr;
    }
    const Spread spread = spread_of(values);
    return {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}, {"runs", values}};
}

ordered_json json_of(const Facts& facts) {
    auto object = ordered_json::object();
    for (const auto& [name, value] : facts) {
        object[name] = value;
    }
    return object;
}

ordered_json json_of(const Workload& work) {
    return {{"pattern", work.pattern == Pattern::pubsub ? "pubsub" : "router"},
            {"transport", to_string(work.transport)},
            {"size_bytes", work.size},
            {"messages", work.messages},
            {"receivers", work.receivers},
            {"topics", work.topics},
            {"two_processes", work.two_processes},
            {"curve", work.curve}};
}

ordered_json json_of(const Series& series) {
    return {{"engine", series.engine},
            {"variant", series.variant},
            {"shorter_runs", series.is_cut},
            {"rates", json_of(series.rates)},
            {"cpu_ns", json_of(series.cpu_ns)},
            {"sender_cpu_ns", json_of(series.sender_cpu_ns)},
            {"publisher_cpu_ns", json_of(series.publisher_cpu_ns)}};
}

ordered_json json_of(const Cell& cell, bool lower_is_better) {
    const Standing standing = standing_in(cell, lower_is_better);
    auto series = ordered_json::array();
    for (const Series& one : cell.series) {
        series.push_back(json_of(one));
    }
    ordered_json best = nullptr;
    if (standing.libzmq_best != nullptr) {
        best = standing.libzmq_best->variant;
    }
    return {{"group", cell.group},
            {"name", cell.name},
            {"workload", json_of(cell.work)},
            {"series", series},
            {"best_libzmq_variant", best},
            {"over_libzmq", json_of(standing.over_libzmq)},
            {"over_best_libzmq", json_of(standing.over_libzmq_best)},
            {"of_raw", json_of(standing.of_raw)}};
}

}  // namespace

void print_matrix_json(std::ostream& out, const Matrix& matrix) {
    auto cells = ordered_json::array();
    for (const Cell& cell : matrix.cells) {
        cells.push_back(json_of(cell, matrix.lower_is_better));
    }
    const ordered_json json = {{"command", matrix.command},
                               {"surroundings", json_of(surroundings())},
                               {"parameters", json_of(matrix.parameters)},
                               {"unit", matrix.unit},
                               {"lower_is_better", matrix.lower_is_better},
                               {"findings", findings_in(matrix)},
                               {"cells", cells}};
    constexpr int indent = 2;
    out << json.dump(indent, ' ', false, ordered_json::error_handler_t::replace) << '\n';
}

}  // namespace telegate::perf
