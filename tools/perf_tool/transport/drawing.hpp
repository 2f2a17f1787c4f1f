#pragma once

#include "../statistics.hpp"
#include "charts.hpp"
#include "tables.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

/// Bars on a log axis, as SVG.
namespace telegate::perf::chart {

// In units of the view box; a page scales it.
inline constexpr double width = 900;
inline constexpr double plot_left = 180;
inline constexpr double plot_right = 800;            // the rest is for the figure beside the longest bar
inline constexpr std::size_t name_columns_max = 26;  // what fits to the left of the plot
inline constexpr double bar_height = 11;
inline constexpr double bar_step = 13;
inline constexpr double row_gap = 9;
inline constexpr double heading_height = 24;
inline constexpr double axis_height = 26;
inline constexpr double text_drop = 9;  // from the top of a bar to the base line of its figure

/// A range of values laid along the plot.
/// Threads: any. Limits: none. Failure: none.
class LogAxis {
  public:
    LogAxis(double low, double high) : low_(low), high_(high) {}

    [[nodiscard]] double x_of(double value) const {
        const double share = std::log(value / low_) / std::log(high_ / low_);
        return plot_left + std::clamp(share, 0.0, 1.0) * (plot_right - plot_left);
    }
    /// Whether there is room for the powers of ten only.
    [[nodiscard]] bool is_long() const { return high_ / low_ > 1e4; }
    /// `steps` within a power of ten, the first of them 1.
    [[nodiscard]] std::vector<double> ticks(const std::vector<double>& steps) const {
        std::vector<double> values;
        const int first = static_cast<int>(std::floor(std::log10(low_)));
        const int last = static_cast<int>(std::ceil(std::log10(high_)));
        for (int power = first; power <= last; ++power) {
            for (const double step : steps) {
                const double value = step * std::pow(10.0, power);
                if (value >= low_ * (1 - rounding) && value <= high_ * (1 + rounding)) {
                    values.push_back(value);
                }
            }
        }
        return values;
    }

  private:
    static constexpr double rounding = 1e-9;
    double low_;
    double high_;
};

struct Bar {
    const char* color;  // a class of the page
    std::string name;
    std::vector<double> values;
};

struct BarRow {
    std::string name;
    std::vector<Bar> bars;
};

/// Whether the values can stand on a log axis.
[[nodiscard]] inline bool can_show(const std::vector<double>& values) {
    return !values.empty() &&
           std::ranges::all_of(values, [](double value) { return std::isfinite(value) && value > 0; });
}

/// The least and the greatest of all; none without a bar.
[[nodiscard]] inline std::optional<Spread> range_of(const std::vector<BarRow>& rows) {
    std::optional<Spread> range;
    for (const BarRow& row : rows) {
        for (const Bar& bar : row.bars) {
            const Spread spread = spread_of(bar.values);
            range = range ? Spread{0, std::min(range->min, spread.min), std::max(range->max, spread.max)} : spread;
        }
    }
    return range;
}

[[nodiscard]] inline double height_of(const std::vector<BarRow>& rows) {
    double height = 0;
    for (const BarRow& row : rows) {
        height += row.bars.empty() ? heading_height : bar_step * static_cast<double>(row.bars.size()) + row_gap;
    }
    return height;
}

/// Writes the parts of one drawing.
/// Threads: one. Limits: none. Failure: as the stream's.
class Drawing {
  public:
    using Format = std::string (*)(double);

    Drawing(std::ostream& out, const LogAxis& axis, Format format) : out_(out), axis_(axis), format_(format) {}

    void begin(const std::string& title, double height) {
        const std::string high = fixed(height + axis_height, 0);
        out_ << "<svg width=\"" << fixed(width, 0) << "\" height=\"" << high << "\" viewBox=\"0 0 " << fixed(width, 0)
             << ' ' << high << "\" role=\"img\" aria-label=\"" << html_of(title) << "\">\n";
    }
    void grid(const std::vector<double>& ticks, double height) {
        for (const double tick : ticks) {
            line(axis_.x_of(tick), 0, height, "grid");
            text(axis_.x_of(tick), height + axis_height / 2, format_(tick), "tick middle");
        }
    }
    void line(double x, double from, double to, const char* kind) {
        out_ << "<line class=\"" << kind << "\" x1=\"" << fixed(x, 1) << "\" x2=\"" << fixed(x, 1) << "\" y1=\""
             << fixed(from, 1) << "\" y2=\"" << fixed(to, 1) << "\"/>\n";
    }
    void text(double x, double y, const std::string& words, const char* kind) {
        out_ << "<text class=\"" << kind << "\" x=\"" << fixed(x, 1) << "\" y=\"" << fixed(y, 1) << "\">"
             << html_of(words) << "</text>\n";
    }
    /// From `base` to the median, with its figure beside it, and a line from the least to the greatest.
    void bar(const Bar& bar, double y, double base) {
        const Spread spread = spread_of(bar.values);
        const double from = axis_.x_of(base);
        const double to = axis_.x_of(spread.median);
        out_ << "<g><title>" << html_of(bar.name) << ": " << format_(spread.median) << " (" << format_(spread.min)
             << " to " << format_(spread.max) << ")</title><rect class=\"" << bar.color << "\" x=\""
             << fixed(std::min(from, to), 1) << "\" y=\"" << fixed(y, 1) << "\" width=\""
             << fixed(std::max(1.0, std::abs(to - from)), 1) << "\" height=\"" << fixed(bar_height, 1)
             << "\"/><path class=\"spread\" d=\"M" << fixed(axis_.x_of(spread.min), 1) << ' '
             << fixed(y + bar_height / 2, 1) << 'H' << fixed(axis_.x_of(spread.max), 1) << "\"/></g>\n";
        // To the right of everything, since the names stand on the left.
        const double end = std::max({from, to, axis_.x_of(spread.max)});
        text(end + 4, y + text_drop, format_(spread.median), "figure");
    }
    void row(const BarRow& row, double& y, double base) {
        if (row.bars.empty()) {
            text(0, y + heading_height - row_gap, row.name, "heading");
            y += heading_height;
            return;
        }
        const double middle = y + bar_step * static_cast<double>(row.bars.size()) / 2;
        text(plot_left - 8, middle + 3, cut(row.name, name_columns_max), "label end");
        for (const Bar& one : row.bars) {
            bar(one, y, base);
            y += bar_step;
        }
        y += row_gap;
    }
    void end() { out_ << "</svg>\n"; }

  private:
    std::ostream& out_;
    const LogAxis& axis_;
    Format format_;
};

}  // namespace telegate::perf::chart
