#include "host/filesystem_source.hpp"

#include "host/channel_names.hpp"

#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>

namespace telegate::host {
namespace {

std::string obstacle_of(const MountTable::Reading& table, const std::string& path) {
    if (!table.fault.empty()) {
        return std::string(table.fault);
    }
    const std::string_view type = remote_type(table.text, path);
    if (!type.empty()) {
        return "refused: " + std::string(type);
    }
    return mount_type(table.text, path).empty() ? "not mounted" : "";
}

void add_count(SampleBatch& batch, SampleBatch::Channel channel, std::uint64_t count, std::uint64_t unit) {
    const auto max = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (unit > 0 && count <= max / unit) {
        batch.add(channel, static_cast<std::int64_t>(count * unit));
    }
}

}  // namespace

FilesystemSource::FilesystemSource(const std::string& proc_root, const std::vector<std::string>& mount_points)
    : table_(proc_root) {
    if (mount_points.size() > mounts_max) {
        throw refused_option("filesystems", mount_points[mounts_max],
                             "one of at most " + std::to_string(mounts_max) + " mount points");
    }
    for (std::string path : mount_points) {
        while (path.size() > 1 && path.ends_with('/')) {
            path.pop_back();
        }
        if (!path.starts_with('/')) {
            throw refused_option("filesystems", path, "the absolute path of a mount point");
        }
        if (std::any_of(mounts_.begin(), mounts_.end(), [&](const Mount& mount) { return mount.path == path; })) {
            throw refused_option("filesystems", path, "listed only once");
        }
        mounts_.emplace_back().path = path;
    }
}

void FilesystemSource::open(const Tick& tick) {
    constexpr std::size_t part_bytes_max = 40;
    FreeNames free;
    for (Mount& mount : mounts_) {
        const std::string name = mount.path == "/" ? "root" : mount.path.substr(1);
        const std::string stem = free.claim("fs.", name, part_bytes_max) + '.';
        mount.total_channel = tick.batch.add_channel(stem + "total", "By");
        mount.free_channel = tick.batch.add_channel(stem + "free", "By");
        mount.available_channel = tick.batch.add_channel(stem + "available", "By");
        mount.used_channel = tick.batch.add_channel(stem + "used", "%");
        mount.inodes_total_channel = tick.batch.add_channel(stem + "inodes_total", "1");
        mount.inodes_free_channel = tick.batch.add_channel(stem + "inodes_free", "1");
        mount.state_channel = tick.batch.add_channel(stem + "state", "");
    }
}

void FilesystemSource::read(const Tick& tick) {
    if (mounts_.empty()) {
        return;
    }
    const MountTable::Reading table = table_.read(tick.buffer);
    for (Mount& mount : mounts_) {
        if (table.has_changed) {
            mount.obstacle = obstacle_of(table, mount.path);
        }
        if (mount.obstacle.empty()) {
            query(tick.batch, mount);
        } else {
            tick.batch.add(mount.state_channel, std::string_view(mount.obstacle), Quality::bad);
        }
    }
}

void FilesystemSource::query(SampleBatch& batch, const Mount& mount) {
    struct statvfs status {};
    if (::statvfs(mount.path.c_str(), &status) != 0) {
        batch.add(mount.state_channel, std::string_view(std::strerror(errno)), Quality::bad);
        return;
    }
    add_count(batch, mount.total_channel, status.f_blocks, status.f_frsize);
    add_count(batch, mount.free_channel, status.f_bfree, status.f_frsize);
    add_count(batch, mount.available_channel, status.f_bavail, status.f_frsize);
    add_count(batch, mount.inodes_total_channel, status.f_files, 1);
    add_count(batch, mount.inodes_free_channel, status.f_ffree, 1);
    const double used = static_cast<double>(status.f_blocks) - static_cast<double>(status.f_bfree);
    const double usable = used + static_cast<double>(status.f_bavail);  // excludes the blocks reserved for root
    if (usable > 0.0) {
        batch.add(mount.used_channel, 100.0 * used / usable);
    }
    batch.add(mount.state_channel, std::string_view("mounted"));
}

}  // namespace telegate::host
