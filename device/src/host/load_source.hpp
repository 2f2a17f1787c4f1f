#pragma once

#include "host/proc_file.hpp"
#include "host/tick.hpp"

#include <array>
#include <string>

namespace telegate::host {

/// Load averages and the number of tasks, from <proc>/loadavg, and the uptime, from <proc>/uptime.
///
/// Threads: the sampling thread.
/// Limits: never allocates after open().
/// Failure: a missing field produces no sample.
class LoadSource {
  public:
    explicit LoadSource(const std::string& proc_root);

    void open(const Tick& tick);
    void read(const Tick& tick);
    void reset() noexcept {}

  private:
    void read_load(const Tick& tick);
    void read_uptime(const Tick& tick);

    ProcFile load_file_;
    ProcFile uptime_file_;
    std::array<SampleBatch::Channel, 3> load_channels_{};
    SampleBatch::Channel running_channel_ = SampleBatch::Channel::none;
    SampleBatch::Channel total_channel_ = SampleBatch::Channel::none;
    SampleBatch::Channel uptime_channel_ = SampleBatch::Channel::none;
};

}  // namespace telegate::host
