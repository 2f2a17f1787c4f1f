#pragma once

#include "../surroundings.hpp"
#include "results.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::perf {

/// What all forms of the report show, as text that is not escaped yet. What was not measured is "-".
struct Table {
    struct Column {
        std::string over;  // a title above neighbouring columns that have the same; empty for none
        std::string title;
        bool is_number = true;
    };
    struct Section {
        std::string title;
        std::vector<std::vector<std::string>> rows;  // as long as columns
    };
    std::vector<Column> columns;
    std::vector<Section> sections;
};

/// One row per cell and series of Telegate, beside libzmq and raw; with CURVE, GB/s in place of raw.
[[nodiscard]] Table summary_table(const Matrix& matrix);
/// One row per series.
[[nodiscard]] Table series_table(const Matrix& matrix);
/// What follows from several cells together, a sentence each: what more subscribers cost a publisher.
[[nodiscard]] std::vector<std::string> findings_in(const Matrix& matrix);
/// The findings, then what the columns mean, a sentence each.
[[nodiscard]] std::vector<std::string> notes_on(const Matrix& matrix);
/// The surroundings, then the parameters.
[[nodiscard]] Facts facts_of(const Matrix& matrix);

/// "2.85 M", "197 k", "73.4": three digits, "-" for what is no number.
[[nodiscard]] std::string short_number(double value);
/// "12.3x"
[[nodiscard]] std::string times(double value);
/// Plain decimal notation, whatever the locale.
[[nodiscard]] std::string fixed(double value, int decimals);

/// Code points, each taken as one column wide.
[[nodiscard]] std::size_t width_of(std::string_view text);
/// At most `width` columns of it, one at least; what is cut ends in "~".
[[nodiscard]] std::string cut(std::string_view text, std::size_t width);

}  // namespace telegate::perf
