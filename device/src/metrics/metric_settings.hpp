#pragma once

#include "config/enum_names.hpp"
#include "config/setting_row.hpp"
#include "metrics/given_time.hpp"

namespace telegate {

// Settings of lines with metric names, shared by several drivers.

inline constexpr auto time_precisions = enum_names<TimePrecision>({{"auto", TimePrecision::by_size},
                                                                   {"ns", TimePrecision::ns},
                                                                   {"us", TimePrecision::us},
                                                                   {"ms", TimePrecision::ms},
                                                                   {"s", TimePrecision::s}});
inline constexpr TextRule metric_member{.holds = Holds::plain,
                                        .prefixes = {},
                                        .allowed = "the name of a member, or empty",
                                        .bytes_max = 64,
                                        .may_be_empty = true};

}  // namespace telegate
