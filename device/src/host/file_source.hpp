#pragma once

#include "host/mount_table.hpp"
#include "host/path_pattern.hpp"
#include "host/proc_file.hpp"
#include "host/tick.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::host {

/// The number in a file as a channel, such as fan=/sys/class/hwmon/hwmon*/fan1_input.
///
/// Threads: the sampling thread.
/// Limits:  files_max files, others are counted in file.left_out. Only regular files, as those of procfs and sysfs are,
///          and only where all that is mounted on the way, and below the first star, is local. A pattern is matched in
///          open() and after reset(); and again, at most once in match_ticks ticks, while it has found nothing or what
///          it found is gone. Only matching allocates.
/// Failure: the constructor throws std::invalid_argument for what is no NAME=PATH. A file without a number, or that is
///          not there, gives no sample; file.refused says what was not opened and why.
class FileSource {
  public:
    static constexpr std::size_t files_max = 64;
    static constexpr std::uint32_t match_ticks = 100;

    FileSource(const std::string& proc_root, const std::vector<std::string>& texts);

    void open(const Tick& tick);
    /// Adds the names of channels that may be declared by a later read(), with * for any text.
    void add_later_names(std::vector<std::string>& names) const;
    /// Returns the paths and patterns without a file now, but for those on a file system that may not answer.
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
        std::string part;
        std::string path;
        ProcFile file;
        SampleBatch::Channel channel = SampleBatch::Channel::none;
    };

    void match(const Tick& tick);
    void find_files(const Tick& tick, std::size_t index);
    /// Why the files of the entry are not opened; "" when they are.
    [[nodiscard]] static std::string_view obstacle_of(const Entry& entry, const MountTable::Reading& table) noexcept;
    void add_file(const Tick& tick, std::size_t index, const PatternMatch& match);

    MountTable table_;
    std::vector<Entry> entries_;
    std::vector<File> files_;
    std::uint32_t ticks_before_match_ = 0;
    bool wants_match_ = false;
    std::int64_t left_out_ = 0;
    std::string refused_;  // the last one and why; "" for none
    SampleBatch::Channel left_out_channel_ = SampleBatch::Channel::none;
    SampleBatch::Channel refused_channel_ = SampleBatch::Channel::none;
};

}  // namespace telegate::host
