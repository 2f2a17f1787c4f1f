#pragma once

#include "core/telemetry_sample.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace telegate::metrics {

enum class StatsdKind : std::uint8_t {
    counter,       // c, m: an increment
    gauge,         // g: a value, or a change if it has a sign
    timing,        // ms
    distribution,  // h, d: any value
};

/// One line of StatsD or DogStatsD: NAME:VALUE[:VALUE...]|KIND[|@RATE][|#TAG,TAG:VALUE...][|TTIME]. Other fields after
/// the kind, such as the container id of the sender, are ignored.
struct StatsdLine {
    static constexpr std::size_t tags_max = 32;  // more than common clients send

    std::string_view name;
    std::string_view values;  // read with next_statsd_value()
    StatsdKind kind = StatsdKind::counter;
    double rate = 1;                              // sampling rate, above 0, at most 1
    std::array<std::string_view, tags_max> tags;  // sorted, without duplicates
    std::size_t tag_count = 0;
    std::optional<std::int64_t> time_s;  // since 1970
    std::string_view fault;              // if the text is not a valid line: what is wrong
};

struct StatsdValue {
    double number = 0;  // NaN: none
    Quality quality = Quality::good;
    bool has_sign = false;
};

/// Reads a line without its line end. Returns false for an invalid line or an unknown kind, such as sets, events and
/// service checks. If it returns true, all values are numbers. Never allocates.
[[nodiscard]] bool read_statsd_line(std::string_view text, StatsdLine& line) noexcept;

/// Takes the next value from the front of `values`; nullopt at the end, or if there is no number.
[[nodiscard]] std::optional<StatsdValue> next_statsd_value(std::string_view& values) noexcept;

}  // namespace telegate::metrics
