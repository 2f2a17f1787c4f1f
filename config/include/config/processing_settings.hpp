#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace telegate {

/// How the values of one channel are processed, in the order of the stages. The defaults change nothing.
struct ProcessingSettings {
    double scale = 1.0;
    double offset = 0.0;
    std::optional<double> valid_min;
    std::optional<double> valid_max;
    std::string out_of_range = "uncertain";
    double deadband = 0.0;                  // 0: none
    double deadband_percent = 0.0;          // 0: none
    std::int64_t send_interval_max_ms = 0;  // 0: none
    std::int64_t send_interval_min_ms = 0;  // 0: none
    std::string derive = "none";
    std::int64_t window_ms = 0;  // 0: none
    std::string window_align = "auto";
    std::vector<std::string> aggregates{"min", "max", "mean", "last"};
    bool window_raw = false;
    std::optional<double> alarm_high;
    std::optional<double> alarm_low;
    double alarm_hysteresis = 0.0;
    std::int64_t alarm_delay_ms = 0;
    std::int64_t alarm_clear_delay_ms = 0;
    std::optional<std::int64_t> decimals;  // not set: values are not rounded
    std::vector<std::string> texts;        // VALUE:TEXT
};

}  // namespace telegate
