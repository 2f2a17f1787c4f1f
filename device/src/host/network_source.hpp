#pragma once

#include "host/counter_rows.hpp"
#include "host/proc_file.hpp"

#include <string>
#include <vector>

namespace telegate::host {

/// Counters and rates of every network interface, from <proc>/net/dev.
///
/// Threads: the sampling thread.
/// Limits: those of CounterRows.
/// Failure: no samples while the file cannot be read; std::bad_alloc for a new interface.
class NetworkSource {
  public:
    explicit NetworkSource(const std::string& proc_root);

    void open(const Tick& tick);
    /// Adds the names of channels that a later read() may declare, with * for any text.
    void add_later_names(std::vector<std::string>& names) const { rows_.add_names(names); }
    void read(const Tick& tick);
    void reset() noexcept { rows_.forget_readings(); }

  private:
    ProcFile file_;
    CounterRows rows_;
};

}  // namespace telegate::host
