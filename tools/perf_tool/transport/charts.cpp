#include "charts.hpp"

#include "drawing.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

namespace telegate::perf {

namespace {

using namespace chart;

void add_bar(std::vector<Bar>& bars, Bar bar) {
    if (can_show(bar.values)) {
        bars.push_back(std::move(bar));
    }
}

std::vector<BarRow> ratio_rows(const Matrix& matrix) {
    std::vector<BarRow> rows;
    for (const Group& group : groups_of(matrix)) {
        const std::size_t heading = rows.size();
        rows.push_back({std::string(group.name), {}});
        for (const Cell* const cell : group.cells) {
            const Standing standing = standing_in(*cell, matrix.lower_is_better);
            BarRow row{cell->name, {}};
            add_bar(row.bars, {"libzmq", "against libzmq", standing.over_libzmq});
            if (standing.libzmq_best != standing.libzmq) {
                add_bar(row.bars, {"best", "against " + standing.libzmq_best->variant, standing.over_libzmq_best});
            }
            if (!row.bars.empty()) {
                rows.push_back(std::move(row));
            }
        }
        if (rows.size() == heading + 1) {
            rows.pop_back();
        }
    }
    return rows;
}

std::vector<BarRow> rate_rows(const Matrix& matrix, const Group& group) {
    std::vector<BarRow> rows;
    for (const Cell* const cell : group.cells) {
        const Standing standing = standing_in(*cell, matrix.lower_is_better);
        BarRow row{cell->name, {}};
        const auto add = [&row](const char* color, const char* name, const Series* series) {
            if (series != nullptr) {
                add_bar(row.bars,
                        {color, series->variant.empty() ? name : name + (", " + series->variant), series->rates});
            }
        };
        add("telegate", "Telegate", standing.telegate);
        add("libzmq", "libzmq", standing.libzmq);
        if (standing.libzmq_best != standing.libzmq) {
            add("best", "libzmq", standing.libzmq_best);
        }
        add("raw", "raw", standing.raw);
        if (!row.bars.empty()) {
            rows.push_back(std::move(row));
        }
    }
    return rows;
}

}  // namespace

std::string_view chart_style() {
    return R"(
:root { color-scheme: light dark; --page: #ffffff; --ink: #1c1c1a; --soft: #6b6a65; --grid: #e3e2dd;
  --telegate: #2a78d6; --libzmq: #e2703a; --best: #8a63d2; --raw: #a3a19a; }
@media (prefers-color-scheme: dark) {
  :root { --page: #171716; --ink: #edece8; --soft: #a3a19a; --grid: #353431;
    --telegate: #4f97e8; --libzmq: #e07f4f; --best: #a585e6; --raw: #7b7972; } }
svg text { fill: var(--ink); font: 11px system-ui, sans-serif; font-variant-numeric: tabular-nums; }
svg .tick { fill: var(--soft); } svg .middle { text-anchor: middle; } svg .end { text-anchor: end; }
svg .heading { font-weight: 600; font-size: 12px; }
.grid { stroke: var(--grid); } .one { stroke: var(--ink); stroke-width: 1.5; }
.spread { stroke: var(--ink); stroke-opacity: .55; }
.telegate { fill: var(--telegate); background: var(--telegate); }
.libzmq { fill: var(--libzmq); background: var(--libzmq); }
.best { fill: var(--best); background: var(--best); } .raw { fill: var(--raw); background: var(--raw); }
)";
}

std::string html_of(std::string_view text) {
    std::string escaped;
    for (const char c : text) {
        switch (c) {
            case '&': escaped += "&amp;"; break;
            case '<': escaped += "&lt;"; break;
            case '>': escaped += "&gt;"; break;
            case '"': escaped += "&quot;"; break;
            case '\'': escaped += "&#39;"; break;
            default: escaped += c;
        }
    }
    return escaped;
}

double draw_ratios(std::ostream& out, const Matrix& matrix) {
    const std::vector<BarRow> rows = ratio_rows(matrix);
    const std::optional<Spread> range = range_of(rows);
    if (!range) {
        return 0;
    }
    // Room on either side of the line, so that both directions are seen.
    const LogAxis axis(std::min(0.5, range->min * 0.8), std::max(2.0, range->max * 1.1));
    const double height = height_of(rows);
    Drawing drawing(out, axis, times);
    drawing.begin("Telegate against libzmq, in each cell; above 1, Telegate is ahead", height);
    drawing.grid(axis.is_long() ? axis.ticks({1}) : axis.ticks({1, 2, 5}), height);
    double y = 0;
    for (const BarRow& row : rows) {
        drawing.row(row, y, 1);
    }
    drawing.line(axis.x_of(1), 0, height, "one");
    drawing.end();
    return height + axis_height;
}

double draw_bars(std::ostream& out, const std::string& title, const std::vector<BarRow>& rows) {
    const std::optional<Spread> range = range_of(rows);
    if (!range) {
        return 0;
    }
    // From the power of ten below the least, so that its bar can be seen.
    const double low = std::pow(10.0, std::floor(std::log10(range->min * 0.8)));
    const LogAxis axis(low, std::max(low * 10, range->max * 1.1));
    const double height = height_of(rows);
    Drawing drawing(out, axis, short_number);
    drawing.begin(title, height);
    drawing.grid(axis.ticks({1}), height);
    double y = 0;
    for (const BarRow& row : rows) {
        drawing.row(row, y, low);
    }
    drawing.end();
    return height + axis_height;
}

void draw_rates(std::ostream& out, const Matrix& matrix, const Group& group) {
    const std::vector<BarRow> rows = rate_rows(matrix, group);
    draw_bars(out, std::string(group.name) + ", " + matrix.unit + ", log axis", rows);
}

}  // namespace telegate::perf
