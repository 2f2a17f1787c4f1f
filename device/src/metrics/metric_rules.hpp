#pragma once

#include <cstdint>
#include <string>

namespace telegate {

/// The unit of a number that is a time.
enum class TimePrecision : std::uint8_t {
    by_size,  // detected from the magnitude: seconds and milliseconds of this century do not overlap
    ns,
    us,
    ms,
    s,
};

/// How lines that name their own metrics are read.
struct MetricRules {
    bool use_time = false;  // samples carry the time of their line if it has one, otherwise the time of arrival
    TimePrecision time_precision = TimePrecision::by_size;
    std::string time_member;  // JSON: the member of the outermost object that holds the time; "": none
    std::string name_member;  // JSON: the member whose text is prepended to each name; "": none
};

}  // namespace telegate
