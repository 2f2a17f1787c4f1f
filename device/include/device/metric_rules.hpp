#pragma once

#include <cstdint>
#include <string>

namespace telegate {

/// What a number that stands for a time counts.
enum class TimePrecision : std::uint8_t {
    by_size,  // told by the number itself: seconds of this century are no milliseconds of it
    ns,
    us,
    ms,
    s,
};

/// How lines that name their own metrics are read.
struct MetricRules {
    bool use_time = false;  // samples carry the time that their line gives, where it does; otherwise that of arrival
    TimePrecision time_precision = TimePrecision::by_size;
    std::string time_member;  // JSON: the member of the outermost object that gives the time; "": none
    std::string name_member;  // JSON: the member whose text comes before each name; "": none
};

}  // namespace telegate
