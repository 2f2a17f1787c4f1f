#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace telegate::metrics {

/// Text as it stands in a line, where a backslash may come before a character. Read with next_influx_character().
struct InfluxTag {
    std::string_view key;
    std::string_view value;
};

/// One line of Influx line protocol: MEASUREMENT[,TAG=VALUE...] FIELD=VALUE[,FIELD=VALUE...] [TIME].
struct InfluxLine {
    static constexpr std::size_t tags_max = 32;

    std::string_view measurement;
    std::array<InfluxTag, tags_max> tags;  // in order of their keys
    std::size_t tag_count = 0;
    std::string_view fields;           // read with next_influx_field()
    std::optional<std::int64_t> time;  // since 1970, in whatever the sender counts
    std::string_view fault;            // of a text that is no such line: what is wrong
};

/// Text between quotes, as it stands there.
struct InfluxText {
    std::string_view raw;
};

struct InfluxField {
    std::string_view key;
    std::variant<double, std::int64_t, bool, InfluxText> value;
};

/// Reads a line without its end; true for one that is whole, with all of its fields. Tags with the same key and
/// unsigned numbers too large for 63 bits are refused. Never allocates.
[[nodiscard]] bool read_influx_line(std::string_view text, InfluxLine& line) noexcept;

/// Takes the next field off the front of `fields`, with the comma behind it; nullopt at the end, or where there is
/// none.
[[nodiscard]] std::optional<InfluxField> next_influx_field(std::string_view& fields) noexcept;

/// Takes the next character off the front of a name or a tag's value: the one behind a backslash where the backslash is
/// there for it, which is before a comma, an equals sign or a space. `raw` is not empty.
[[nodiscard]] char next_influx_character(std::string_view& raw) noexcept;
/// The same in a text between quotes, where \", \\, \n, \r and \t are one character each.
[[nodiscard]] char next_influx_text_character(std::string_view& raw) noexcept;

}  // namespace telegate::metrics
