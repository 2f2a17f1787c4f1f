#include "tables.hpp"

#include "../statistics.hpp"
#include "standing.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
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

Cells summary_row(const Cell& cell, bool lower_is_better) {
    const Standing standing = standing_in(cell, lower_is_better);
    Cells row{cell.name, none, none, none};
    if (standing.telegate != nullptr) {
        const Spread spread = spread_of(standing.telegate->rates);
        row = {cell.name, short_number(spread.median), short_number(spread.min), short_number(spread.max)};
    }
    const Cells others{rate_of(standing.libzmq),        median_of(standing.over_libzmq, times),
                       rate_of(standing.libzmq_best),   median_of(standing.over_libzmq_best, times),
                       rate_of(standing.raw),           median_of(standing.of_raw, lower_is_better ? times : percent),
                       cpu_of(standing.telegate),       cpu_of(standing.libzmq),
                       cpu_of(standing.libzmq_best),    cpu_of(standing.raw),
                       variant_of(standing.libzmq_best)};
    row.insert(row.end(), others.begin(), others.end());
    return row;
}

Cells series_row(const Cell& cell, const Series& series) {
    Cells row{cell.name, series.engine, variant_of(&series), none, none, none};
    if (!series.rates.empty()) {
        const Spread spread = spread_of(series.rates);
        row[3] = short_number(spread.median);
        row[4] = short_number(spread.min);
        row[5] = short_number(spread.max);
    }
    row.push_back(cpu_of(&series));
    row.push_back(median_of(series.sender_cpu_ns, short_number));
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

std::string cut(std::string_view text, std::size_t width) {
    if (width_of(text) <= width) {
        return std::string(text);
    }
    std::size_t end = text.size();
    while (end > 0 && width_of(text.substr(0, end)) + 1 > width) {
        --end;
    }
    return std::string(text.substr(0, end)) + "~";
}

Table summary_table(const Matrix& matrix) {
    Table table;
    table.columns = {{"", "", false},
                     {"Telegate", "median"},
                     {"Telegate", "min"},
                     {"Telegate", "max"},
                     {"libzmq", "median"},
                     {"libzmq", "ratio"},
                     {"best libzmq", "median"},
                     {"best libzmq", "ratio"},
                     {"raw", "median"},
                     {"raw", matrix.lower_is_better ? "times" : "share"},
                     {"CPU ns", "Telegate"},
                     {"CPU ns", "libzmq"},
                     {"CPU ns", "best"},
                     {"CPU ns", "raw"},
                     {"", "best libzmq variant", false}};
    for (const Group& group : groups_of(matrix)) {
        Table::Section section{std::string(group.name), {}};
        for (const Cell* const cell : group.cells) {
            section.rows.push_back(summary_row(*cell, matrix.lower_is_better));
        }
        table.sections.push_back(std::move(section));
    }
    return table;
}

Table series_table(const Matrix& matrix) {
    Table table;
    table.columns = {{"", "", false}, {"", "engine", false}, {"", "variant", false}, {"", "median"},
                     {"", "min"},     {"", "max"},           {"CPU ns", "all"},      {"CPU ns", "sender"}};
    for (const Group& group : groups_of(matrix)) {
        Table::Section section{std::string(group.name), {}};
        for (const Cell* const cell : group.cells) {
            for (const Series& series : cell->series) {
                section.rows.push_back(series_row(*cell, series));
            }
        }
        table.sections.push_back(std::move(section));
    }
    return table;
}

std::vector<std::string> notes_on(const Matrix& matrix) {
    if (matrix.lower_is_better) {
        return {"Values are " + matrix.unit + "; less is better. Medians, least and greatest are those of the runs.",
                "ratio: libzmq over Telegate, run by run, the median; above 1, Telegate is ahead.",
                "raw: the plain connection, the floor; times: Telegate over it, run by run, the median.",
                "CPU ns: of all threads, system calls included, for each round trip; the median of the runs."};
    }
    return {"Values are " + matrix.unit + "; more is better. Medians, least and greatest are those of the runs.",
            "ratio: Telegate over libzmq, run by run, the median; above 1, Telegate is ahead.",
            "raw: the plain connection, the ceiling; share: how much of it Telegate reaches, run by run, the median.",
            "CPU ns: of all threads, system calls included, for each message; the median of the runs."};
}

Facts facts_of(const Matrix& matrix) {
    Facts facts = surroundings();
    facts.insert(facts.end(), matrix.parameters.begin(), matrix.parameters.end());
    return facts;
}

}  // namespace telegate::perf
