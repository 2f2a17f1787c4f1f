#pragma once

#include "host/mount_table.hpp"
#include "host/proc_file.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace telegate::host {

/// The space in the file systems at some mount points.
///
/// Threads: the sampling thread.
/// Limits: mounts_max mount points. Queries only file systems of local types, because others may block the thread.
/// Allocates only when the mounts change.
/// Failure: the constructor throws std::invalid_argument for a path that is not absolute. A file system that is not
/// queried, or does not respond, has no samples except its state, which says why.
class FilesystemSource {
  public:
    static constexpr std::size_t mounts_max = 32;

    FilesystemSource(const std::string& proc_root, const std::vector<std::string>& mount_points);

    void open(const Tick& tick);
    void read(const Tick& tick);
    void reset() noexcept {}

  private:
    struct Mount {
        std::string path;
        std::string obstacle;  // why it is not queried; "": it is queried
        SampleBatch::Channel total_channel = SampleBatch::Channel::none;
        SampleBatch::Channel free_channel = SampleBatch::Channel::none;
        SampleBatch::Channel available_channel = SampleBatch::Channel::none;
        SampleBatch::Channel used_channel = SampleBatch::Channel::none;
        SampleBatch::Channel inodes_total_channel = SampleBatch::Channel::none;
        SampleBatch::Channel inodes_free_channel = SampleBatch::Channel::none;
        SampleBatch::Channel state_channel = SampleBatch::Channel::none;
    };

    static void query(SampleBatch& batch, const Mount& mount);

    MountTable table_;
    std::vector<Mount> mounts_;
};

}  // namespace telegate::host
