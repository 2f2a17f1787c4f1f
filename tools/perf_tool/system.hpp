#pragma once

#include "core/unique_fd.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <time.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

/// Figures of processes and threads, and wrappers of system calls.
namespace telegate::perf {

/// Returns the result of a system call. Throws std::system_error if it is negative.
template <class Result>
Result checked(Result result, const char* what) {
    if (result < 0) {
        throw std::system_error(errno, std::generic_category(), what);
    }
    return result;
}

/// Returns the CPU time of a process or thread in nanoseconds.
[[nodiscard]] inline double cpu_ns_of(clockid_t clock) noexcept {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}
[[nodiscard]] inline double process_cpu_ns() noexcept {
    return cpu_ns_of(CLOCK_PROCESS_CPUTIME_ID);
}
[[nodiscard]] inline double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Returns the bytes allocated on the heap of the process; 0 with a sanitizer.
[[nodiscard]] std::size_t bytes_allocated() noexcept;

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
    double resident_kib = 0;
    double proportional_kib = 0;  // a page shared by n processes counts as 1/n
    double anonymous_kib = 0;     // not backed by a file
    std::size_t descriptors = 0;
};

/// Returns the memory of a process; 0 is this process. Throws std::runtime_error if it cannot be read.
[[nodiscard]] ProcessMemory memory_of(pid_t process);

/// Returns the number after `name` and a colon in the text of a file such as /proc/self/status.
[[nodiscard]] std::optional<std::uint64_t> number_after(const std::string& text, const std::string& name);

/// Returns the content of a small file, "" if it cannot be read.
[[nodiscard]] std::string content_of(const std::string& path);

/// Returns the first and the last available processor, which are on different cores if there are four or more; nullopt
/// with one processor.
[[nodiscard]] std::optional<std::pair<int, int>> two_processors();
/// Pins the current thread. Throws std::system_error.
void pin_thread(int processor);

/// A new directory, which the destructor removes.
/// Threads: one. Limits: none. Failure: throws std::runtime_error if it, or a file in it, cannot be created.
class ScratchFolder {
  public:
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    /// Creates a file and returns its path.
    [[nodiscard]] std::string write(const std::string& name, const std::string& text) const;

  private:
    std::string path_;
};

/// A listening socket: on a free port of the loopback interface, or a Unix socket whose name, without a file, the
/// kernel chooses.
struct LocalListener {
    UniqueFd socket;
    std::string address;  // for connect_to(), which is not text

    /// Throws std::system_error. The family is AF_INET or AF_UNIX.
    explicit LocalListener(sa_family_t family = AF_INET);
    /// Throws std::system_error.
    [[nodiscard]] UniqueFd accept() const {
        return UniqueFd(checked(::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC), "accept4"));
    }
};

/// Connects to a LocalListener, with TCP_NODELAY. Throws std::system_error.
[[nodiscard]] UniqueFd connect_to(const std::string& address);

}  // namespace telegate::perf
