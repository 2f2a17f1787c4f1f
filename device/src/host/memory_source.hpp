#pragma once

#include "host/proc_file.hpp"
#include "host/tick.hpp"

#include <array>
#include <string>

namespace telegate::host {

/// Memory and swap in bytes, from <proc>/meminfo.
///
/// Threads: the sampling thread.
/// Limits: never allocates after open().
/// Failure: a missing field produces no sample, nor does a value calculated from it.
class MemorySource {
  public:
    explicit MemorySource(const std::string& proc_root);

    void open(const Tick& tick);
    void read(const Tick& tick);
    void reset() noexcept {}

  private:
    static constexpr std::size_t fields = 7;

    ProcFile file_;
    std::array<SampleBatch::Channel, fields> channels_{};
    SampleBatch::Channel memory_used_channel_ = SampleBatch::Channel::none;
    SampleBatch::Channel swap_used_channel_ = SampleBatch::Channel::none;
};

}  // namespace telegate::host
