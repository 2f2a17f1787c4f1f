#include "results.hpp"

#include <nlohmann/json.hpp>

#include <ostream>

namespace telegate::perf {

namespace {

using nlohmann::ordered_json;

/// Returns the series of an engine that were measured.
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
    const auto score = [lower_is_better](const Series* series) {
        const double median = spread_of(series->rates).median;
        return lower_is_better ? median : -median;
    };
    return those.empty() ? nullptr : *std::ranges::min_element(those, {}, score);
}

std::vector<double> run_by_run(const Series* over, const Series* under) {
    return over == nullptr || under == nullptr ? std::vector<double>()
                                               : ratio("", {"", over->rates}, {"", under->rates}).values;
}

/// The figures of an engine in a cell, each with its unit.
std::vector<std::pair<std::string, std::vector<double>>> figures_of(const Matrix& matrix, const Cell& cell,
                                                                    const Series& series) {
    std::vector<std::pair<std::string, std::vector<double>>> figures{
        {matrix.unit, series.rates}, {"CPU ns per message, all threads", series.cpu_ns}};
    if (cell.work.receivers > 1) {
        figures.emplace_back("CPU ns per message, without the receivers", series.publisher_cpu_ns);
    }
    if (cell.work.curve) {
        std::vector<double> gigabytes(series.rates);
        for (double& rate : gigabytes) {
            rate *= static_cast<double>(cell.work.size) / 1e9;
        }
        figures.emplace_back("GB/s", std::move(gigabytes));
    }
    return figures;
}

void add_row(Section& section, const std::string& name, std::vector<double> values) {
    if (!values.empty() && std::ranges::find(section.rows, name, &Row::name) == section.rows.end()) {
        section.rows.push_back({name, std::move(values)});
    }
}

/// Adds the figures of the engines in a cell, and the ratios of one series of Telegate to the other engines.
void add_standing(Report& report, const Matrix& matrix, const Cell& cell, const Standing& standing) {
    const std::pair<const char*, const Series*> compared[] = {{": telegate", standing.telegate},
                                                              {": libzmq", standing.libzmq},
                                                              {": best libzmq", standing.libzmq_best},
                                                              {": raw", standing.raw}};
    for (const auto& [name, series] : compared) {
        if (series == nullptr) {
            continue;
        }
        const std::string row = cell.name + name + (series->variant.empty() ? "" : ", " + series->variant) +
                                (series->is_cut ? " (shorter runs)" : "");
        for (const auto& [unit, values] : figures_of(matrix, cell, *series)) {
            add_row(report.section(cell.group + ", " + unit, ""), row, values);
        }
    }
    const std::string ours =
        cell.name +
        (standing.telegate == nullptr || standing.telegate->variant.empty() ? "" : ", " + standing.telegate->variant);
    Section& ratios = report.section(cell.group + ", ratios run by run", "above 1, Telegate is better");
    add_row(ratios, ours + ": to libzmq", standing.over_libzmq);
    add_row(ratios, ours + ": to the best libzmq", standing.over_libzmq_best);
    add_row(ratios, ours + (matrix.lower_is_better ? ": Telegate / raw" : ": share of raw"), standing.of_raw);
}

ordered_json json_of(const std::vector<double>& values) {
    if (values.empty()) {
        return nullptr;
    }
    const Spread spread = spread_of(values);
    return {{"median", spread.median}, {"min", spread.min}, {"max", spread.max}, {"runs", values}};
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
    return {{"engine", series.engine},          {"variant", series.variant},
            {"shorter_runs", series.is_cut},    {"rates", json_of(series.rates)},
            {"cpu_ns", json_of(series.cpu_ns)}, {"publisher_cpu_ns", json_of(series.publisher_cpu_ns)}};
}

ordered_json json_of(const Cell& cell, bool lower_is_better) {
    const Standing standing = standings_in(cell, lower_is_better).front();
    auto series = ordered_json::array();
    for (const Series& one : cell.series) {
        series.push_back(json_of(one));
    }
    const auto* const best = standing.libzmq_best;
    return {{"group", cell.group},
            {"name", cell.name},
            {"workload", json_of(cell.work)},
            {"series", series},
            {"best_libzmq_variant", best == nullptr ? ordered_json() : ordered_json(best->variant)},
            {"over_libzmq", json_of(standing.over_libzmq)},
            {"over_best_libzmq", json_of(standing.over_libzmq_best)},
            {"of_raw", json_of(standing.of_raw)}};
}

}  // namespace

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

void print_text(std::ostream& out, const Matrix& matrix) {
    print_head(out, matrix.command, matrix.parameters);
    print_tables(out, matrix, matrix.cells);
}

void print_tables(std::ostream& out, const Matrix& matrix, std::span<const Cell> cells) {
    Report report;
    for (const Cell& cell : cells) {
        for (const Standing& standing : standings_in(cell, matrix.lower_is_better)) {
            add_standing(report, matrix, cell, standing);
        }
    }
    print_tables(out, report);
}

void print_json(std::ostream& out, const Matrix& matrix) {
    auto cells = ordered_json::array();
    for (const Cell& cell : matrix.cells) {
        cells.push_back(json_of(cell, matrix.lower_is_better));
    }
    print_document(out, {{"command", matrix.command},
                         {"surroundings", perf::json_of(surroundings())},
                         {"parameters", perf::json_of(matrix.parameters)},
                         {"unit", matrix.unit},
                         {"lower_is_better", matrix.lower_is_better},
                         {"cells", cells}});
}

}  // namespace telegate::perf
