#pragma once

#include "host/directory_names.hpp"
#include "host/proc_file.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telegate::host {

/// The used fields of <proc>/PID/stat.
struct ProcessStat {
    std::string_view name;  // truncated by the kernel to name_bytes_max
    char state = '?';
    std::uint64_t cpu_ticks = 0;  // user and system
    std::int64_t threads = 0;
    std::uint64_t start_ticks = 0;  // since boot; identifies a process together with its PID
    std::int64_t resident_pages = 0;

    static constexpr std::size_t name_bytes_max = 15;

    /// Returns whether the process has ended and only waits for its parent.
    [[nodiscard]] bool is_over() const noexcept { return state == 'Z' || state == 'X' || state == 'x'; }
};

/// Returns nullopt for a text that is not such a line. A name may contain anything, including blanks and brackets.
[[nodiscard]] std::optional<ProcessStat> parse_process_stat(std::string_view text) noexcept;

/// Returns the last part of the program path, the first argument in <proc>/PID/cmdline; empty for a kernel thread.
[[nodiscard]] std::string_view program_of(std::string_view command_line) noexcept;

/// The number of processes with certain names, and their total resource usage, from <proc>/PID.
///
/// Threads: the sampling thread.
/// Limits: names_max names; processes_max processes of those names. They are searched for in passes over <proc>, at
/// most one in scan_ticks ticks or after a process has ended. A tick checks one piece of a pass, about 300 PIDs, and a
/// pass checks at most pids_max of them. At most descriptors_max descriptors are counted per tick. Further processes
/// are counted in proc.left_out. Only open() allocates.
/// Failure: the constructor throws std::invalid_argument for an invalid name. A process that cannot be read is not in
/// the sum, which is then uncertain. A sum of nothing produces no sample, except the count. If the kernel hides
/// processes of other users (hidepid), nothing has a value and proc.state says why; this is detected with PID 1, which
/// always exists.
class ProcessSource {
  public:
    static constexpr std::size_t names_max = 32;
    static constexpr std::size_t processes_max = 256;
    static constexpr std::size_t pids_max = 4'096;
    static constexpr std::int64_t descriptors_max = 16'384;
    static constexpr std::uint32_t scan_ticks = 10;

    ProcessSource(const std::string& proc_root, const std::vector<std::string>& names);

    void open(const Tick& tick);
    void read(const Tick& tick);
    void reset() noexcept;

  private:
    /// A sum, and the number of processes in it.
    template <class Value>
    struct Sum {
        Value value = 0;
        std::int64_t parts = 0;
        bool is_cut = false;

        void add(Value part) noexcept {
            value += part;
            ++parts;
        }
    };
    struct Name {
        std::string name;
        SampleBatch::Channel count_channel = SampleBatch::Channel::none;
        SampleBatch::Channel rss_channel = SampleBatch::Channel::none;
        SampleBatch::Channel cpu_channel = SampleBatch::Channel::none;
        SampleBatch::Channel descriptors_channel = SampleBatch::Channel::none;
        SampleBatch::Channel threads_channel = SampleBatch::Channel::none;
        // of this tick
        std::int64_t count = 0;
        Sum<std::int64_t> rss_bytes;
        Sum<double> cpu_percent;
        Sum<std::int64_t> descriptors;
        Sum<std::int64_t> threads;
    };
    struct Process {
        std::uint32_t pid = 0;
        std::size_t name = 0;  // index in names_
        std::uint64_t start_ticks = 0;
        std::uint64_t cpu_ticks = 0;
        MonoTime time{};
        bool has_reading = false;
    };

    void scan(const Tick& tick);
    void read_process(std::uint32_t pid, std::span<char> buffer);
    /// Measures a process and adds its values to those of its name. Returns whether the process still exists.
    [[nodiscard]] bool measure(const Tick& tick, Process& process);
    void count_descriptors(const Tick& tick, std::uint32_t pid, Name& name);
    void add_samples(const Tick& tick) const;
    /// Returns the index of the name of a process; names_.size() if none.
    [[nodiscard]] std::size_t name_of(std::string_view name, std::uint32_t pid, std::span<char> buffer);
    [[nodiscard]] std::size_t find_name(std::string_view name) const noexcept;
    /// Returns a path below <proc>/PID. Valid until the next call.
    [[nodiscard]] const char* path_of(std::uint32_t pid, std::string_view file);
    [[nodiscard]] std::optional<ProcessStat> stat_of(std::uint32_t pid, std::span<char> buffer);

    const double ticks_per_second_;
    const bool tells_descriptors_;  // the size of the directory <proc>/PID/fd is its number of entries
    std::string path_;              // <proc>/; names are appended temporarily
    const std::size_t root_bytes_;
    std::vector<Name> names_;
    std::vector<Process> processes_;
    bool are_hidden_ = false;  // the last pass found that processes are hidden
    DirectoryNames pass_;      // open while a pass is in progress
    std::uint32_t reads_before_pass_ = 0;
    std::size_t pids_seen_ = 0;  // of this pass
    std::int64_t left_out_ = 0;  // of this pass
    std::optional<std::int64_t> left_out_last_;
    std::int64_t descriptors_counted_ = 0;  // of this tick
    SampleBatch::Channel left_out_channel_ = SampleBatch::Channel::none;
    SampleBatch::Channel state_channel_ = SampleBatch::Channel::none;
};

}  // namespace telegate::host
