#pragma once

#include "device/thread_schedule.hpp"
#include "log/log_line.hpp"

#include <vector>

namespace telegate {

/// Returns a log line for each setting of the sampling thread that the system refused or granted only in part, with the
/// reason and a remedy. Threads: any.
[[nodiscard]] std::vector<LogLine> schedule_refusals(const ScheduleGrant& grant);

}  // namespace telegate
