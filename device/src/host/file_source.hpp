#pragma once

#include "host/channel_names.hpp"
#include "host/mount_table.hpp"
#include "host/path_pattern.hpp"
#include "host/proc_file.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::host {

/// Reads the numbers in files, such as fan=/sys/class/hwmon/hwmon*/fan1_input, each as a channel.
///
/// Threads: the sampling thread.
/// Limits: files_max files; others are counted in file.left_out. Opens only regular files (files of procfs and sysfs
/// are regular), and only if all mounts on the path, and below its first star, are local. A pattern is matched in
/// open() and after reset(), and again, at most once in match_ticks ticks, while it has no match or a matched file is
/// missing. Only matching allocates.
/// Failure: the constructor throws std::invalid_argument for a text that is not NAME=PATH. A missing file or a file
/// without a number produces no sample; file.refused says what was not opened and why.
class FileSource {
  public:
    static constexpr std::size_t files_max = 64;
    static constexpr std::uint32_t match_ticks = 100;

    FileSource(const std::string& proc_root, const std::vector<std::string>& texts);

    void open(const Tick& tick);
    /// Adds the names of channels that a later read() may declare, with * for any text.
    void add_later_names(std::vector<std::string>& names) const;
    /// Returns the paths and patterns that have no file now, except those on a file system that may not respond.
    [[nodiscard]] std::vector<std::string> missing(const MountTable::Reading& table) const;
    void read(const Tick& tick);
    void reset() noexcept;

  private:
    struct Entry {
        std::string name;
        PathPattern pattern;
        bool is_refused = false;
        bool found_any = false;
    };
    struct File {
        std::size_t entry = 0;
        std::string path;
        ProcFile file;
        SampleBatch::Channel channel = SampleBatch::Channel::none;
    };

    void match(const Tick& tick);
    void find_files(const Tick& tick, std::size_t index);
    /// Returns why the files of the entry are not opened; "" if they are.
    [[nodiscard]] static std::string_view obstacle_of(const Entry& entry, const MountTable::Reading& table) noexcept;
    void add_file(const Tick& tick, std::size_t index, const PatternMatch& match);

    MountTable table_;
    std::vector<Entry> entries_;
    std::vector<File> files_;
    FreeNames names_;  // of the files
    std::uint32_t ticks_before_match_ = 0;
    bool wants_match_ = false;
    std::int64_t left_out_ = 0;
    std::string refused_;  // the last refused entry and the reason; "": none
    SampleBatch::Channel left_out_channel_ = SampleBatch::Channel::none;
    SampleBatch::Channel refused_channel_ = SampleBatch::Channel::none;
};

}  // namespace telegate::host
