#pragma once

#include "device/thread_schedule.hpp"
#include "log/log_line.hpp"

#include <vector>

namespace telegate {

/// A line for the log for each setting of the sampling thread that the system has refused, or granted in part: which
/// one, why, and what to do. Threads: any.
[[nodiscard]] std::vector<LogLine> schedule_refusals(const ScheduleGrant& grant);

}  // namespace telegate
