#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Figures of processes and threads, from /proc.
namespace telegate::perf {

/// The kernel's counters of a thread since its start.
struct ThreadFigures {
    std::string name;
    std::uint64_t cpu_ns = 0;
    std::uint64_t wake_ups = 0;     // voluntary context switches: it waited
    std::uint64_t preemptions = 0;  // involuntary context switches: another thread took its processor
};

/// Returns the figures of every thread of a process; 0 is this process. Threads that end meanwhile are skipped.
/// Throws std::runtime_error if there is no such process.
[[nodiscard]] std::vector<ThreadFigures> threads_of(pid_t process);

/// Returns the sum over all threads whose name has this prefix, since an earlier call of threads_of().
[[nodiscard]] ThreadFigures since(const std::vector<ThreadFigures>& before, const std::vector<ThreadFigures>& now,
                                  std::string_view prefix);

/// The memory of a process in KiB, and its descriptors.
struct ProcessMemory {
    std::uint64_t resident_kib = 0;
    std::uint64_t proportional_kib = 0;  // a page shared by n processes counts as 1/n
    std::uint64_t anonymous_kib = 0;     // not backed by a file
    std::size_t descriptors = 0;
};

/// Returns the memory of a process; 0 is this process. Throws std::runtime_error if it cannot be read.
[[nodiscard]] ProcessMemory memory_of(pid_t process);

/// Returns the number after `name` and a colon in the text of a file such as /proc/self/status.
[[nodiscard]] std::optional<std::uint64_t> number_after(const std::string& text, const std::string& name);

/// Returns the content of a small file, "" if it cannot be read.
[[nodiscard]] std::string content_of(const std::string& path);

}  // namespace telegate::perf
