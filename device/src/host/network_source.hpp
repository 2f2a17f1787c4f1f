#pragma once

#include "host/counter_rows.hpp"
#include "host/proc_file.hpp"

#include <string>

namespace telegate::host {

/// Counters and rates of every network interface, from <proc>/net/dev.
///
/// Threads: the sampling thread.
/// Limits:  those of CounterRows.
/// Failure: while the file cannot be read there are no samples; std::bad_alloc for a new interface.
class NetworkSource {
  public:
    explicit NetworkSource(const std::string& proc_root);

    void open(const Tick& tick);
    void read(const Tick& tick);
    void reset() noexcept { rows_.forget_readings(); }

  private:
    ProcFile file_;
    CounterRows rows_;
};

}  // namespace telegate::host
