#include "host/mount_table.hpp"

#include "host/text_scan.hpp"

#include <algorithm>
#include <array>
#include <functional>

namespace telegate::host {
namespace {

constexpr std::array<std::string_view, 42> local_types{
    "ext2",      "ext3",       "ext4",     "xfs",     "btrfs",   "f2fs",       "bcachefs", "zfs",     "jfs",
    "reiserfs",  "nilfs2",     "vfat",     "msdos",   "exfat",   "ntfs3",      "iso9660",  "udf",     "squashfs",
    "erofs",     "cramfs",     "romfs",    "ubifs",   "jffs2",   "overlay",    "tmpfs",    "ramfs",   "devtmpfs",
    "hugetlbfs", "proc",       "sysfs",    "cgroup",  "cgroup2", "bpf",        "debugfs",  "tracefs", "pstore",
    "configfs",  "securityfs", "efivarfs", "fusectl", "mqueue",  "binfmt_misc"};

enum class Place { other, same, below };

/// Returns the position of a mountinfo word, in which blanks and backslashes are escaped as \ooo, relative to `path`.
Place place_of(std::string_view word, std::string_view path) noexcept {
    constexpr std::size_t escape_bytes = 4;
    std::size_t at = 0;
    while (at < word.size() && !path.empty()) {
        char each = word[at];
        if (each == '\\' && word.size() - at >= escape_bytes) {
            const auto digit = [&](std::size_t index) {
                return static_cast<unsigned>(word[at + index] - '0');
            };
            each = static_cast<char>(digit(1) * 64 + digit(2) * 8 + digit(3));
            at += escape_bytes;
        } else {
            ++at;
        }
        if (each != path.front()) {
            return Place::other;
        }
        path.remove_prefix(1);
    }
    if (!path.empty()) {
        return Place::other;
    }
    if (at == word.size()) {
        return Place::same;
    }
    return at > 0 && (word[at] == '/' || word[at - 1] == '/') ? Place::below : Place::other;
}

/// Takes the mount point from the front of a line.
std::string_view take_mount_point(std::string_view& line) noexcept {
    constexpr int fields_before = 4;  // mount, parent, device, root
    for (int field = 0; field < fields_before; ++field) {
        take_word(line);
    }
    return take_word(line);
}

/// Returns the word after the lone "-" that ends the optional fields.
std::string_view type_of(std::string_view line) noexcept {
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
        if (word == "-") {
            return take_word(line);
        }
    }
    return {};
}

}  // namespace

std::string_view mount_type(std::string_view mountinfo, std::string_view mount_point) noexcept {
    std::string_view type;
    while (!mountinfo.empty()) {
        std::string_view line = take_line(mountinfo);
        if (place_of(take_mount_point(line), mount_point) == Place::same) {
            type = type_of(line);
        }
    }
    return type;
}

bool is_local_type(std::string_view type) noexcept {
    return std::find(local_types.begin(), local_types.end(), type) != local_types.end();
}

std::string_view remote_type(std::string_view mountinfo, std::string_view path) noexcept {
    std::size_t end = 0;  // of the directory that is checked: "/" first, the path itself last
    while (end < path.size()) {
        const std::string_view type = mount_type(mountinfo, path.substr(0, std::max<std::size_t>(end, 1)));
        if (!type.empty() && !is_local_type(type)) {
            return type;
        }
        end = std::min(path.find('/', end + 1), path.size());
    }
    const std::string_view type = mount_type(mountinfo, path);
    return is_local_type(type) ? std::string_view() : type;
}

std::string_view remote_type_below(std::string_view mountinfo, std::string_view directory) noexcept {
    while (!mountinfo.empty()) {
        std::string_view line = take_line(mountinfo);
        if (place_of(take_mount_point(line), directory) == Place::below) {
            const std::string_view type = type_of(line);
            if (!is_local_type(type)) {
                return type;
            }
        }
    }
    return {};
}

MountTable::Reading MountTable::read(std::span<char> buffer) noexcept {
    constexpr std::size_t line_bytes_max = 8 * 1'024;  // two paths and their options
    const auto text = file_.read(buffer);
    Reading reading;
    if (!text || text->empty()) {
        reading.fault = "no mountinfo";
    } else if (text->size() + line_bytes_max > buffer.size()) {
        reading.fault = "mountinfo too long";
    } else {
        reading.text = *text;
    }
    const std::size_t hash = std::hash<std::string_view>{}(reading.fault.empty() ? reading.text : reading.fault);
    reading.has_changed = hash != last_hash_;
    last_hash_ = hash;
    return reading;
}

}  // namespace telegate::host
