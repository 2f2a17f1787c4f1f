#include "results.hpp"

#include <nlohmann/json.hpp>

#include <iomanip>
#include <iterator>
#include <ostream>
#include <sstream>

namespace telegate::perf {

namespace {

using nlohmann::ordered_json;

const std::string none = "-";

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

std::string fixed(double value, int decimals) {
    std::ostringstream text;
    text << std::fixed << std::setprecision(decimals) << value;
    return text.str();
}

/// Three digits of a value below 999.5.
std::string three_digits(double value) {
    const double size = std::abs(value);
    return fixed(value, size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

std::string percent(double value) {
    return std::isfinite(value) ? fixed(value * 100, 0) + " %" : none;
}

std::string median_of(const std::vector<double>& values, std::string (*format)(double)) {
    return values.empty() ? none : format(spread_of(values).median);
}

/// The texts of a row, each with the title of its column.
using Fields = std::vector<std::pair<const char*, std::string>>;

Fields fields_of(const Matrix& matrix, const Cell& cell, const Standing& standing) {
    const auto& [telegate, libzmq, best, raw, over_libzmq, over_best, of_raw] = standing;
    const auto rate = [](const Series* series) {
        return series == nullptr ? none : median_of(series->rates, short_number);
    };
    const auto cpu = [](const Series* series) {
        return series == nullptr ? none : median_of(series->cpu_ns, short_number);
    };
    const auto gigabytes = [&cell](const Series* series) {
        const double bytes_max = static_cast<double>(cell.work.size) / 1e9;
        return series == nullptr ? none : fixed(spread_of(series->rates).median * bytes_max, 3);
    };
    const bool has_variant = telegate != nullptr && !telegate->variant.empty();
    const Spread spread = telegate == nullptr ? Spread{NAN, NAN, NAN} : spread_of(telegate->rates);
    Fields fields{{"", "  " + cell.name + (has_variant ? ", " + telegate->variant : "")},
                  {"Telegate", rate(telegate)},
                  {"min", short_number(spread.min)},
                  {"max", short_number(spread.max)},
                  {"libzmq", rate(libzmq)},
                  {"ratio", median_of(over_libzmq, times)},
                  {"best libzmq", rate(best)},
                  {"ratio", median_of(over_best, times)}};
    if (std::ranges::any_of(matrix.cells, [](const Cell& each) { return each.work.curve; })) {
        fields.emplace_back("GB/s Telegate", gigabytes(telegate));
        fields.emplace_back("libzmq", gigabytes(libzmq));
        fields.emplace_back("best", gigabytes(best));
    } else {
        fields.emplace_back("raw", rate(raw));
        fields.emplace_back(matrix.lower_is_better ? "times" : "share",
                            median_of(of_raw, matrix.lower_is_better ? times : percent));
    }
    fields.emplace_back("CPU ns Telegate", cpu(telegate));
    if (std::ranges::any_of(matrix.cells, [](const Cell& each) { return each.work.receivers > 1; })) {
        fields.emplace_back("publisher",
                            telegate == nullptr ? none : median_of(telegate->publisher_cpu_ns, short_number));
    }
    fields.emplace_back("libzmq", cpu(libzmq));
    fields.emplace_back("best", cpu(best));
    fields.emplace_back("raw", cpu(raw));
    fields.emplace_back("best libzmq variant", best == nullptr || best->variant.empty()
                                                   ? none
                                                   : best->variant + (best->is_cut ? " (shorter runs)" : ""));
    return fields;
}

/// Prints columns of equal width; the first and the last are aligned to the left.
void print_table(std::ostream& out, const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths(rows.empty() ? 0 : rows.front().size());
    for (const auto& row : rows) {
        for (std::size_t column = 0; column < row.size(); ++column) {
            widths[column] = std::max(widths[column], row[column].size());
        }
    }
    for (const auto& row : rows) {
        if (row.size() == 1) {
            out << row.front() << '\n';
            continue;
        }
        out << std::left << std::setw(static_cast<int>(widths.front())) << row.front() << std::right;
        for (std::size_t column = 1; column + 1 < row.size(); ++column) {
            out << "  " << std::setw(static_cast<int>(widths[column])) << row[column];
        }
        out << "  " << row.back() << '\n';
    }
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

std::string short_number(double value) {
    struct Scale {
        double from;  // the scale below would need another digit
        double unit;
        const char* suffix;
    };
    constexpr Scale scales[] = {{999.5e6, 1e9, " G"}, {999.5e3, 1e6, " M"}, {9999.5, 1e3, " k"}, {0, 1, ""}};
    if (!std::isfinite(value)) {
        return none;
    }
    const Scale& scale = *std::ranges::find_if(scales, [=](const Scale& one) { return std::abs(value) >= one.from; });
    return three_digits(value / scale.unit) + scale.suffix;
}

std::string times(double value) {
    return std::isfinite(value) ? three_digits(value) + "x" : none;
}

void print_text(std::ostream& out, const Matrix& matrix) {
    print_head(out, matrix.command, matrix.parameters);
    out << '\n' << matrix.unit << (matrix.lower_is_better ? "; less is better\n" : "; more is better\n");
    std::vector<std::vector<std::string>> rows;
    std::string group;
    for (const Cell& cell : matrix.cells) {
        for (const Standing& standing : standings_in(cell, matrix.lower_is_better)) {
            const Fields fields = fields_of(matrix, cell, standing);
            if (rows.empty()) {
                std::ranges::transform(fields, std::back_inserter(rows.emplace_back()), &Fields::value_type::first);
            }
            if (cell.group != std::exchange(group, cell.group)) {
                rows.push_back({group});
            }
            std::ranges::transform(fields, std::back_inserter(rows.emplace_back()), &Fields::value_type::second);
        }
    }
    print_table(out, rows);
    out << "\nRatios above 1 mean that Telegate is better. Each comparison is the median of the ratios of the runs.\n";
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
