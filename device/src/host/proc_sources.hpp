#pragma once

#include "host/counter_rows.hpp"
#include "host/proc_file.hpp"

#include <array>
#include <string>
#include <string_view>
#include <vector>

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

/// Pressure stall information for cpu, memory and io, from <proc>/pressure.
///
/// Threads: the sampling thread.
/// Limits: has channels only for the lines that exist at open(); never allocates after it.
/// Failure: values that can no longer be read produce no samples.
class PressureSource {
  public:
    explicit PressureSource(const std::string& proc_root);

    void open(const Tick& tick);
    void read(const Tick& tick);
    void reset() noexcept {}

  private:
    struct Line {
        const char* name;  // some or full
        SampleBatch::Channel avg10_channel = SampleBatch::Channel::none;
        SampleBatch::Channel total_channel = SampleBatch::Channel::none;
    };
    struct Resource {
        ProcFile file;
        Line some{"some"};
        Line full{"full"};
    };

    /// Returns whether `text` has the line, and declares its channels if so.
    static bool open(SampleBatch& batch, const std::string& resource, std::string_view text, Line& line);
    static void read(SampleBatch& batch, std::string_view text, const Line& line);

    const std::string directory_;
    std::vector<Resource> resources_;  // those that exist
};

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
