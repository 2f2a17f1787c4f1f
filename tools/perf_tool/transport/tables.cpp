#include "tables.hpp"

#include "../statistics.hpp"
#include "standing.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <iterator>
#include <system_error>
#include <utility>

namespace telegate::perf {

namespace {

constexpr const char* none = "-";

using Cells = std::vector<std::string>;

/// Three digits for what is below 999.5.
int decimals_of(double value) {
    const double size = std::abs(value);
    return size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
}

std::string median_of(const std::vector<double>& values, std::string (*format)(double)) {
    return values.empty() ? none : format(spread_of(values).median);
}

std::string rate_of(const Series* series) {
    return series == nullptr ? none : median_of(series->rates, short_number);
}

std::string cpu_of(const Series* series) {
    return series == nullptr ? none : median_of(series->cpu_ns, short_number);
}

std::string variant_of(const Series* series) {
    return series == nullptr || series->variant.empty() ? none : series->variant;
}

std::string percent(double value) {
    return std::isfinite(value) ? fixed(value * 100, 0) + " %" : none;
}

/// A further row of the same cell is told by its variant.
std::string row_name(const Cell& cell, const Standing& standing) {
    const bool is_told = standing.telegate != nullptr && !standing.telegate->variant.empty();
    return is_told ? cell.name + ", " + standing.telegate->variant : cell.name;
}

/// Bytes of payload that go over, in 10^9 a second.
std::string gigabytes_of(const Cell& cell, const Series* series) {
    if (series == nullptr) {
        return none;
    }
    const double value = spread_of(series->rates).median * static_cast<double>(cell.work.size) / 1e9;
    return std::isfinite(value) ? fixed(value, value < 1 ? 3 : 2) : none;
}

/// What a column of the summary shows of one row.
struct SummaryRow {
    const Cell& cell;
    const Standing& standing;
};
struct Shown {
    Table::Column column;
    std::function<std::string(const SummaryRow&)> text;
};

Shown rate_column(const char* over, const Series* Standing::*engine) {
    return {{over, "median"}, [engine](const SummaryRow& row) {
                return rate_of(row.standing.*engine);
            }};
}

Shown ratio_column(const char* over, std::vector<double> Standing::*ratio) {
    return {{over, "ratio"}, [ratio](const SummaryRow& row) {
                return median_of(row.standing.*ratio, times);
            }};
}

Shown cpu_column(const char* title, const Series* Standing::*engine) {
    return {{"CPU ns", title}, [engine](const SummaryRow& row) {
                return cpu_of(row.standing.*engine);
            }};
}

Shown gigabytes_column(const char* title, const Series* Standing::*engine) {
    return {{"GB/s", title}, [engine](const SummaryRow& row) {
                return gigabytes_of(row.cell, row.standing.*engine);
            }};
}

/// Telegate's least or greatest.
Shown bound_column(const char* title, double Spread::*bound) {
    return {{"Telegate", title}, [bound](const SummaryRow& row) {
                return row.standing.telegate == nullptr ? std::string(none)
                                                        : short_number(spread_of(row.standing.telegate->rates).*bound);
            }};
}

std::vector<Shown> summary_columns(const Matrix& matrix) {
    std::vector<Shown> shown{{{"", "", false},
                              [](const SummaryRow& row) {
                                  return row_name(row.cell, row.standing);
                              }},
                             rate_column("Telegate", &Standing::telegate),
                             bound_column("min", &Spread::min),
                             bound_column("max", &Spread::max),
                             rate_column("libzmq", &Standing::libzmq),
                             ratio_column("libzmq", &Standing::over_libzmq),
                             rate_column("best libzmq", &Standing::libzmq_best),
                             ratio_column("best libzmq", &Standing::over_libzmq_best)};
    const auto add = [&shown](Shown column) {
        shown.push_back(std::move(column));
    };
    if (is_sealed(matrix)) {
        add(gigabytes_column("Telegate", &Standing::telegate));
        add(gigabytes_column("libzmq", &Standing::libzmq));
        add(gigabytes_column("best", &Standing::libzmq_best));
    } else {
        const bool is_time = matrix.lower_is_better;
        add(rate_column("raw", &Standing::raw));
        add({{"raw", is_time ? "times" : "share"}, [is_time](const SummaryRow& row) {
                 return median_of(row.standing.of_raw, is_time ? times : percent);
             }});
    }
    add(cpu_column("Telegate", &Standing::telegate));
    if (is_fan_out(matrix)) {
        add({{"CPU ns", "publisher"}, [](const SummaryRow& row) {
                 return row.standing.telegate == nullptr
                            ? std::string(none)
                            : median_of(row.standing.telegate->publisher_cpu_ns, short_number);
             }});
    }
    add(cpu_column("libzmq", &Standing::libzmq));
    add(cpu_column("best", &Standing::libzmq_best));
    if (!is_sealed(matrix)) {
        add(cpu_column("raw", &Standing::raw));
    }
    add({{"", "best libzmq variant", false}, [](const SummaryRow& row) {
             return variant_of(row.standing.libzmq_best);
         }});
    return shown;
}

Cells row_of(const std::vector<Shown>& shown, const SummaryRow& row) {
    Cells cells;
    std::ranges::transform(shown, std::back_inserter(cells), [&row](const Shown& column) { return column.text(row); });
    return cells;
}

Cells series_row(const Cell& cell, const Series& series, bool with_publisher) {
    Cells row{cell.name, series.engine, variant_of(&series), none, none, none};
    if (!series.rates.empty()) {
        const Spread spread = spread_of(series.rates);
        row[3] = short_number(spread.median);
        row[4] = short_number(spread.min);
        row[5] = short_number(spread.max);
    }
    row.push_back(cpu_of(&series));
    row.push_back(median_of(series.sender_cpu_ns, short_number));
    if (with_publisher) {
        row.push_back(median_of(series.publisher_cpu_ns, short_number));
    }
    return row;
}

}  // namespace

std::string fixed(double value, int decimals) {
    std::array<char, 400> text{};  // the greatest double has 309 digits
    const auto [end, fault] =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, decimals);
    return fault == std::errc() ? std::string(text.data(), end) : none;
}

std::string short_number(double value) {
    struct Scale {
        double from;
        double unit;
        const char* suffix;
    };
    // Each begins where the one below would need another digit.
    constexpr std::array<Scale, 3> scales{{{999.5e6, 1e9, " G"}, {999.5e3, 1e6, " M"}, {9999.5, 1e3, " k"}}};
    if (!std::isfinite(value)) {
        return none;
    }
    for (const Scale& scale : scales) {
        if (std::abs(value) >= scale.from) {
            return fixed(value / scale.unit, decimals_of(value / scale.unit)) + scale.suffix;
        }
    }
    return fixed(value, decimals_of(value));
}

std::string times(double value) {
    return std::isfinite(value) ? fixed(value, decimals_of(value)) + "x" : none;
}

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & '\xC0') != '\x80'; }));
}

std::string cut(std::string_view text, std::size_t width_max) {
    if (width_of(text) <= width_max) {
        return std::string(text);
    }
    std::size_t end = text.size();
    while (end > 0 && width_of(text.substr(0, end)) + 1 > width_max) {
        --end;
    }
    return std::string(text.substr(0, end)) + "~";
}

Table summary_table(const Matrix& matrix) {
    const std::vector<Shown> shown = summary_columns(matrix);
    Table table;
    std::ranges::transform(shown, std::back_inserter(table.columns), &Shown::column);
    for (const Group& group : groups_of(matrix)) {
        Table::Section section{std::string(group.name), {}};
        for (const Cell* const cell : group.cells) {
            for (const Standing& standing : standings_in(*cell, matrix.lower_is_better)) {
                section.rows.push_back(row_of(shown, {*cell, standing}));
            }
        }
        table.sections.push_back(std::move(section));
    }
    return table;
}

Table series_table(const Matrix& matrix) {
    Table table;
    table.columns = {{"", "", false}, {"", "engine", false}, {"", "variant", false}, {"", "median"},
                     {"", "min"},     {"", "max"},           {"CPU ns", "all"},      {"CPU ns", "sender"}};
    const bool with_publisher = is_fan_out(matrix);
    if (with_publisher) {
        table.columns.push_back({"CPU ns", "publisher"});
    }
    for (const Group& group : groups_of(matrix)) {
        Table::Section section{std::string(group.name), {}};
        for (const Cell* const cell : group.cells) {
            for (const Series& series : cell->series) {
                section.rows.push_back(series_row(*cell, series, with_publisher));
            }
        }
        table.sections.push_back(std::move(section));
    }
    return table;
}

Facts facts_of(const Matrix& matrix) {
    Facts facts = surroundings();
    facts.insert(facts.end(), matrix.parameters.begin(), matrix.parameters.end());
    return facts;
}

}  // namespace telegate::perf
