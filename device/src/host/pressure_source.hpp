#pragma once

#include "host/proc_file.hpp"
#include "host/tick.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace telegate::host {

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

}  // namespace telegate::host
