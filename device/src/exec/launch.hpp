#pragma once

#include <sys/resource.h>
#include <sys/types.h>

namespace telegate::exec {

/// Everything that a new process needs, ready made: between vfork() and exec nothing may be allocated and no lock
/// taken, for another thread may hold it.
struct Launch {
    const char* path = nullptr;
    char* const* arguments = nullptr;    // the first is the name; a null pointer ends them
    char* const* environment = nullptr;  // as well
    const char* directory = nullptr;
    int input = -1;  // become its standard streams; all three above 2
    int output = -1;
    int errors = -1;
    rlim_t memory_max_bytes = RLIM_INFINITY;
    rlim_t cpu_seconds_max = RLIM_INFINITY;
};

/// What came of it.
struct Launched {
    pid_t pid = -1;         // -1 for nothing
    const char* step = "";  // of what failed: "execve", "chdir"
    int error = 0;          // and its errno
};

/// Starts a process in a group of its own, whose number is its pid. It has no descriptor but its standard streams, no
/// signal blocked, ignored or handled, ordinary scheduling, no core file, the limits that are asked for, and gets
/// SIGKILL when the calling thread ends. Never allocates, and does not copy the page tables of the caller, whose other
/// threads go on undisturbed.
[[nodiscard]] Launched launch(const Launch& what) noexcept;

}  // namespace telegate::exec
