#pragma once

#include "metrics/number_text.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace telegate::metrics {

/// A tag as written in a line, where backslashes may escape characters. Read it with next_influx_character().
struct InfluxTag {
    std::string_view key;
    std::string_view value;
};

/// One line of Influx line protocol: MEASUREMENT[,TAG=VALUE...] FIELD=VALUE[,FIELD=VALUE...] [TIME].
struct InfluxLine {
    static constexpr std::size_t tags_max = 32;

    std::string_view measurement;
    std::array<InfluxTag, tags_max> tags;  // sorted by key
    std::size_t tag_count = 0;
    std::string_view fields;           // read with next_influx_field()
    std::optional<std::int64_t> time;  // since 1970, in the unit of the sender
    bool is_time_beyond = false;       // a time of more than 64 bits
    std::string_view fault;            // if the text is not a valid line: what is wrong
};

/// The raw text between quotes.
struct InfluxText {
    std::string_view raw;
};

struct InfluxField {
    std::string_view key;
    std::variant<TextNumber, bool, InfluxText> value;
};

/// Takes the next line, without its LF or CR LF, from the front of `text`. A line end between the quotes of a text does
/// not end the line. A text without its second quote extends to the end of `text`.
[[nodiscard]] std::string_view take_influx_line(std::string_view& text) noexcept;

/// Reads a line without its line end, which blanks may precede. Returns true if all of it is valid, including all
/// fields. Refuses duplicate tag keys. Never allocates.
[[nodiscard]] bool read_influx_line(std::string_view text, InfluxLine& line) noexcept;

/// Takes the next field and the comma after it from the front of `fields`; nullopt at the end, or if there is no valid
/// field.
[[nodiscard]] std::optional<InfluxField> next_influx_field(std::string_view& fields) noexcept;

/// Takes the next character from the front of a name or tag value, and resolves a backslash before a comma, an equals
/// sign or a space. `raw` must not be empty.
[[nodiscard]] char next_influx_character(std::string_view& raw) noexcept;
/// Takes the next character of a quoted text, and resolves a backslash before a quote,
/// a backslash, n, r or t.
[[nodiscard]] char next_influx_text_character(std::string_view& raw) noexcept;

}  // namespace telegate::metrics
