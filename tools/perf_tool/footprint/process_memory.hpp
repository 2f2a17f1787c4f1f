#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace telegate::perf {

/// What a process has in memory now, in KiB, and its descriptors.
struct ProcessMemory {
    std::uint64_t resident_kib = 0;
    std::uint64_t proportional_kib = 0;  // a page that n processes share counts for 1/n
    std::uint64_t anonymous_kib = 0;     // that no file stands behind
    std::size_t descriptors = 0;
};

/// 0 is this process. Threads: any. Limits: none. Failure: throws std::runtime_error when it cannot be read.
[[nodiscard]] ProcessMemory memory_of(pid_t process);

/// How much of a full queue of `samples` each sample takes, and an empty one of that size in all, in bytes, measured in
/// this process.
struct QueueMemory {
    double empty_bytes = 0;
    double bytes_per_sample = 0;
};
[[nodiscard]] QueueMemory measure_queue(std::size_t samples);

}  // namespace telegate::perf
