#pragma once

#include "device/metric_rules.hpp"

#include <string_view>

namespace telegate {

/// What the settings of several drivers say of lines that name their metrics.
template <class DriverSettings>
[[nodiscard]] MetricRules to_metric_rules(const DriverSettings& from) {
    const std::string_view precision = from.time_precision;
    MetricRules rules;
    rules.use_time = from.use_time;
    rules.time_precision = precision == "ns"   ? TimePrecision::ns
                           : precision == "us" ? TimePrecision::us
                           : precision == "ms" ? TimePrecision::ms
                           : precision == "s"  ? TimePrecision::s
                                               : TimePrecision::by_size;
    rules.time_member = from.time_member;
    rules.name_member = from.name_member;
    return rules;
}

}  // namespace telegate
