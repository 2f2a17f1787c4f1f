#include "exec/launch.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>

namespace telegate::exec {
namespace {

enum class Step : std::uint8_t { prepare, descriptors, directory, limits, exec };

struct Report {
    Step step = Step::prepare;
    int error = 0;
};

const char* to_string(Step step) noexcept {
    switch (step) {
        case Step::prepare: return "prepare";
        case Step::descriptors: return "close_range";
        case Step::directory: return "chdir";
        case Step::limits: return "setrlimit";
        case Step::exec: return "execve";
    }
    return "";
}

bool set_limit(decltype(RLIMIT_AS) which, rlim_t soft, rlim_t hard) noexcept {
    const rlimit limit{soft, hard};
    return ::setrlimit(which, &limit) == 0;
}

/// Sets SIGXCPU at the limit, and SIGKILL one second later for a process that ignores it.
bool set_limits(const Launch& what) noexcept {
    const rlim_t cpu = what.cpu_seconds_max;
    return (what.memory_max_bytes == 0 || set_limit(RLIMIT_AS, what.memory_max_bytes, what.memory_max_bytes)) &&
           (cpu == 0 || set_limit(RLIMIT_CPU, cpu, cpu + 1)) && set_limit(RLIMIT_CORE, 0, 0);
}

void reset_signals() noexcept {
    struct sigaction standard {};
    standard.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG; ++number) {
        // fails for signals that cannot be caught, which have the default handler anyway
        (void)::sigaction(number, &standard, nullptr);
    }
}

/// Runs in the child, which shares the memory of the parent: system calls only. Returns the step that failed.
Step run(const Launch& what, pid_t parent) noexcept {
    const sched_param ordinary{};
    if (::setpgid(0, 0) != 0 || ::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) {
        return Step::prepare;
    }
    (void)::sched_setscheduler(0, SCHED_OTHER, &ordinary);
    reset_signals();
    // The descriptors are above 2, and exec does not close the duplicates.
    if (::dup2(what.input, STDIN_FILENO) < 0 || ::dup2(what.output, STDOUT_FILENO) < 0 ||
        ::dup2(what.errors, STDERR_FILENO) < 0 ||
        ::close_range(STDERR_FILENO + 1, UINT_MAX, CLOSE_RANGE_CLOEXEC) != 0) {
        return Step::descriptors;
    }
    if (::chdir(what.directory) != 0) {
        return Step::directory;
    }
    if (!set_limits(what)) {
        return Step::limits;
    }
    sigset_t none;
    ::sigemptyset(&none);
    (void)::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execve(what.path, what.arguments, what.environment);
    return Step::exec;
}

[[noreturn]] void run_and_report(const Launch& what, pid_t parent, int report) noexcept {
    Report failed;
    failed.step = run(what, parent);
    failed.error = errno;
    (void)!::write(report, &failed, sizeof(failed));
    constexpr int cannot_execute = 127;  // as in shells
    ::_exit(cannot_execute);
}

/// A separate function, so no local variable is used across both returns of vfork().
pid_t start(const Launch& what, int report) noexcept {
    const pid_t parent = ::getpid();
    const pid_t pid = ::vfork();
    if (pid == 0) {
        run_and_report(what, parent, report);
    }
    return pid;
}

Launched collect(pid_t pid, int report) noexcept {
    Report failed;
    ssize_t got = -1;
    do {
        got = ::read(report, &failed, sizeof(failed));
    } while (got < 0 && errno == EINTR);
    if (got != static_cast<ssize_t>(sizeof(failed))) {
        return {pid, "", 0};  // exec closed the pipe
    }
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return {-1, to_string(failed.step), failed.error};
}

}  // namespace

Launched launch(const Launch& what) noexcept {
    int report[2];
    if (::pipe2(report, O_CLOEXEC) != 0) {
        return {-1, "pipe", errno};
    }
    // A signal handler in the child would run in the parent's memory.
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = start(what, report[1]);
    const int error = errno;
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ::close(report[1]);
    const Launched launched = pid < 0 ? Launched{-1, "vfork", error} : collect(pid, report[0]);
    ::close(report[0]);
    return launched;
}

}  // namespace telegate::exec
