#pragma once

#include "host/proc_file.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::host {

/// The usage of one core or of all cores, in percent per mode, from a line of <proc>/stat.
///
/// Threads: the sampling thread.
/// Limits: a counter that steps back slightly, as idle and iowait do, counts as unchanged.
/// Failure: no samples without a previous reading, if no time has been counted since, or if the counters restarted.
class CpuUse {
  public:
    static constexpr std::size_t modes = 8;

    /// Declares <prefix>.user and so on.
    void open(SampleBatch& batch, const std::string& prefix);
    [[nodiscard]] bool is_open() const noexcept { return is_open_; }
    void update(SampleBatch& batch, std::span<const std::uint64_t> times);
    void forget_reading() noexcept { count_ = 0; }

  private:
    void add_samples(SampleBatch& batch, std::span<const std::uint64_t> steps) const;

    bool is_open_ = false;
    std::array<SampleBatch::Channel, modes> channels_{};
    SampleBatch::Channel busy_channel_ = SampleBatch::Channel::none;
    std::array<std::uint64_t, modes> times_{};  // clock ticks
    std::size_t count_ = 0;                     // modes in the previous reading; 0: none
};

/// CPU usage of the machine and, optionally, of each core, from <proc>/stat.
///
/// Threads: the sampling thread.
/// Limits: cores_max cores; higher-numbered cores are counted in cpu.left_out. Only a new core allocates.
/// Failure: no samples while the file cannot be read, or for a core that is offline; std::bad_alloc for a new core.
class CpuSource {
  public:
    static constexpr std::size_t cores_max = 512;  // roughly what the buffer can hold

    CpuSource(const std::string& proc_root, bool per_core);

    void open(const Tick& tick);
    /// Adds the names of channels that a later read() may declare, with * for any text.
    void add_later_names(std::vector<std::string>& names) const;
    void read(const Tick& tick);
    void reset() noexcept;

  private:
    struct Core {
        CpuUse use;
        bool updated = false;
    };

    /// Returns the core of this number, adding it if necessary; null beyond cores_max.
    Core* core(SampleBatch& batch, std::size_t number);
    void read_cores(const Tick& tick, std::string_view text);

    ProcFile file_;
    const bool per_core_;
    CpuUse total_;
    std::vector<Core> cores_;  // indexed by number
    SampleBatch::Channel left_out_channel_ = SampleBatch::Channel::none;
};

}  // namespace telegate::host
