#pragma once

#include <sys/resource.h>
#include <sys/types.h>

namespace telegate::exec {

/// Everything that a new process needs, prepared in advance. Between vfork() and exec, no memory may be allocated and
/// no lock may be taken, because another thread may hold it.
struct Launch {
    const char* path = nullptr;
    char* const* arguments = nullptr;    // the first is the name; terminated by a null pointer
    char* const* environment = nullptr;  // terminated by a null pointer
    const char* directory = nullptr;
    int input = -1;  // the new standard streams; all three must be above 2
    int output = -1;
    int errors = -1;
    rlim_t memory_max_bytes = 0;  // 0: no limit
    rlim_t cpu_seconds_max = 0;   // 0: no limit
};

/// The result of a launch.
struct Launched {
    pid_t pid = -1;         // -1: failed
    const char* step = "";  // the system call that failed: "execve", "chdir"
    int error = 0;          // errno of the failed call
};

/// Starts a process in its own process group, whose id is its pid. The process has only the standard streams, default
/// signal handling with no signal blocked, ordinary scheduling, no core file and the requested limits. It gets SIGKILL
/// when the calling thread ends. Never allocates, and does not copy the page tables of the caller. Other threads of the
/// caller continue to run.
[[nodiscard]] Launched launch(const Launch& what) noexcept;

}  // namespace telegate::exec
