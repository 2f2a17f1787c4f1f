#pragma once

#include "delay_counts.hpp"
#include "line_run.hpp"
#include "report.hpp"

#include <vector>

namespace telegate::perf {

/// One run, and what the machine itself does at the pace of its ticks, before and after it.
struct Measured {
    LineResult line;
    DelayCounts eventfd;
    DelayCounts tcp;
};

/// Adds what the runs of one work have found, and the goals that there are for it.
void add_rows(Report& report, const LineWork& work, bool rate_was_sought, const std::vector<Measured>& all);

}  // namespace telegate::perf
