#pragma once

#include "config/enum_names.hpp"
#include "config/setting_row.hpp"
#include "lines/line_format.hpp"

namespace telegate {

// Settings of line formats, shared by several drivers.

inline constexpr auto line_delimiters =
    enum_names<char>({{"comma", ','}, {"semicolon", ';'}, {"tab", '\t'}, {"blank", ' '}, {"bar", '|'}, {"colon", ':'}});
// A channel name and a unit.
inline constexpr TextListRule line_columns{
    .holds = Holds::plain, .allowed = "NAME, NAME[UNIT] or -", .bytes_max = 128, .count_max = 256, .may_repeat = true};
inline constexpr TextRule line_pattern{.holds = Holds::plain,
                                       .prefixes = {},
                                       .allowed = "a regular expression, or empty",
                                       .bytes_max = 1'024,
                                       .may_be_empty = true};

}  // namespace telegate
