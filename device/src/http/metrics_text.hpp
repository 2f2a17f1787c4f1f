#pragma once

#include "core/telemetry_sample.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::http {

/// A line of the text formats of Prometheus (0.0.4, 1.0.0) and OpenMetrics (1.0.0).
struct MetricsLine {
    enum class Kind : std::uint8_t {
        series,
        comment,  // or empty
        end,      // "# EOF"
        fault,
    };
    Kind kind = Kind::fault;
    std::string_view name = {};    // as written in the line; for a quoted name without the quotes
    std::string_view labels = {};  // for next_label()
    double value = 0;              // NaN: none
    Quality quality = Quality::good;
};

/// Parses a line without its line break. A timestamp and an exemplar are dropped; their values and order are not
/// checked.
[[nodiscard]] MetricsLine read_metrics_line(std::string_view line) noexcept;

struct Label {
    std::string_view name;
    std::string_view value;  // escaped; see next_label_character()
};

/// Removes and returns the next label of a series; nullopt at the end.
[[nodiscard]] std::optional<Label> next_label(std::string_view& labels) noexcept;

/// Removes and returns the next byte of an escaped name or value, which must not be empty.
[[nodiscard]] char next_label_character(std::string_view& escaped) noexcept;

/// Selects the series of a channel: those with this name and at least these labels.
struct SeriesSelector {
    std::string name = {};
    std::vector<std::pair<std::string, std::string>> labels = {};

    [[nodiscard]] bool selects(const MetricsLine& series) const;
};

/// Parses NAME, NAME{LABEL="VALUE",...} or {"NAME",LABEL="VALUE",...}. Returns nullopt for other texts.
[[nodiscard]] std::optional<SeriesSelector> parse_selector(std::string_view text);

}  // namespace telegate::http
