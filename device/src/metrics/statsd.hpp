#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace telegate::metrics {

enum class StatsdKind : std::uint8_t {
    counter,       // c, m: how much more
    gauge,         // g: a value, or with a sign a change of it
    timing,        // ms
    distribution,  // h, d: a value of any kind
};

/// One line of StatsD or DogStatsD: NAME:VALUE[:VALUE...]|KIND[|@RATE][|#TAG,TAG:VALUE...][|TTIME]. Other fields behind
/// the kind, such as the container that sent it, are passed over.
struct StatsdLine {
    static constexpr std::size_t tags_max = 32;  // more than any stock client sends

    std::string_view name;
    std::string_view values;  // read with next_statsd_value()
    StatsdKind kind = StatsdKind::counter;
    double rate = 1;                              // of sampling, above 0, at most 1
    std::array<std::string_view, tags_max> tags;  // in order, none twice
    std::size_t tag_count = 0;
    std::optional<std::int64_t> time_s;  // since 1970
    std::string_view fault;              // of a text that is no such line: what is wrong
};

struct StatsdValue {
    double number = 0;
    bool has_sign = false;
};

/// Reads a line without its end. False when it is not one, or of a kind that is not known: sets, events and service
/// checks among them. All of its values are numbers when it is true. Never allocates.
[[nodiscard]] bool read_statsd_line(std::string_view text, StatsdLine& line) noexcept;

/// Takes the next value off the front of `values`; nullopt at the end, or where there is no number.
[[nodiscard]] std::optional<StatsdValue> next_statsd_value(std::string_view& values) noexcept;

}  // namespace telegate::metrics
