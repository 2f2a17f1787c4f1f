#include "exec/child_process.hpp"

#include "device/cancel_signal.hpp"
#include "path_fault.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace telegate::exec {
namespace {

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

/// Starts a process in its own process group, whose id is its pid. The process has only the standard streams, default
/// signal handling with no signal blocked, ordinary scheduling, no core file and the requested limits. It gets SIGKILL
/// when the calling thread ends. Never allocates, and does not copy the page tables of the caller. Other threads of the
/// caller continue to run.
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

constexpr std::string_view path_otherwise = "/usr/local/bin:/usr/bin:/bin";

std::string_view name_of(std::string_view variable) noexcept {
    return variable.substr(0, variable.find('='));
}

/// Merges variables; later ones override earlier ones.
std::vector<std::string> merged(std::vector<std::string> variables, const std::vector<std::string>& more) {
    for (const std::string& variable : more) {
        const auto known = std::find_if(variables.begin(), variables.end(),
                                        [&](const std::string& each) { return name_of(each) == name_of(variable); });
        if (known == variables.end()) {
            variables.push_back(variable);
        } else {
            *known = variable;
        }
    }
    return variables;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& text : texts) {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

bool is_program(const std::string& path) noexcept {
    return ::access(path.c_str(), X_OK) == 0;
}

/// Duplicates a descriptor that is a standard stream to a higher number.
UniqueFd above_standard(int descriptor) noexcept {
    UniqueFd given(descriptor);
    if (descriptor < 0 || descriptor > STDERR_FILENO) {
        return given;
    }
    return UniqueFd(::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

struct Pipe {
    UniqueFd reader;
    UniqueFd writer;

    [[nodiscard]] bool is_open() const noexcept { return reader.get() >= 0 && writer.get() >= 0; }
};

/// Reading the pipe does not block; the command may block on writing.
Pipe make_pipe() noexcept {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        return {};
    }
    Pipe made{above_standard(ends[0]), above_standard(ends[1])};
    if (made.is_open()) {
        (void)::fcntl(made.reader.get(), F_SETFL, O_NONBLOCK);
    }
    return made;
}

std::string signal_name(int number) {
    const char* const name = ::sigabbrev_np(number);
    return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(number);
}

}  // namespace

std::vector<std::string> inherited_environment() {
    std::vector<std::string> variables;
    for (const char* const name : {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"}) {
        if (const char* const value = std::getenv(name)) {
            variables.push_back(std::string(name) + '=' + value);
        }
    }
    return variables;
}

ChildProcess::ChildProcess(const ExecDriverOptions& options, std::vector<std::string> arguments)
    : options_(options),
      arguments_(std::move(arguments)),
      environment_(merged(inherited_environment(), options.environment)),
      argument_pointers_(pointers_to(arguments_)),
      environment_pointers_(pointers_to(environment_)) {}

ChildProcess::~ChildProcess() {
    if (exists()) {
        begin_end();
        (void)finish_end(nullptr);
    }
}

/// Looks up a name without a slash on each start, because the program may have been installed since.
std::string ChildProcess::find_program() const {
    const std::string& name = arguments_.front();
    if (name.find('/') != std::string::npos) {
        return name;
    }
    std::string_view folders = path_otherwise;
    for (const std::string& variable : environment_) {
        if (variable.starts_with("PATH=")) {
            folders = std::string_view(variable).substr(5);
        }
    }
    while (!folders.empty()) {
        const std::size_t end = std::min(folders.find(':'), folders.size());
        std::string path = std::string(folders.substr(0, end)) + '/' + name;
        if (path.front() == '/' && is_program(path)) {
            return path;
        }
        folders.remove_prefix(std::min(end + 1, folders.size()));
    }
    return {};
}

std::string ChildProcess::program_fault() const {
    const std::string path = find_program();
    if (path.empty()) {
        return arguments_.front() + ": no such program in PATH";
    }
    // The command resolves a relative path in its own directory.
    return path_fault(path.front() == '/' ? path : options_.working_directory + '/' + path, X_OK);
}

std::string ChildProcess::directory_fault() const {
    const bool can_enter = ::access((options_.working_directory + "/.").c_str(), X_OK) == 0;
    return can_enter ? "" : options_.working_directory + ": " + error_words(errno);
}

std::string ChildProcess::start() {
    is_ending_ = is_killed_ = false;
    const std::string path = find_program();
    if (path.empty()) {
        return "no such program in PATH";
    }
    Pipe output = make_pipe();
    Pipe errors = make_pipe();
    if (!output.is_open() || !errors.is_open()) {
        return "pipe: " + error_words(errno);
    }
    std::string fault = launch_with(path, output.writer.get(), errors.writer.get());
    if (fault.empty()) {
        output_ = std::move(output.reader);
        errors_ = std::move(errors.reader);
    }
    return fault;
}

std::string ChildProcess::launch_with(const std::string& path, int output, int errors) {
    const UniqueFd nothing = above_standard(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (nothing.get() < 0) {
        return "/dev/null: " + error_words(errno);
    }
    Launch what;
    what.path = path.c_str();
    what.arguments = argument_pointers_.data();
    what.environment = environment_pointers_.data();
    what.directory = options_.working_directory.c_str();
    what.input = nothing.get();
    what.output = output;
    what.errors = errors;
    what.memory_max_bytes = options_.memory_max_bytes;
    what.cpu_seconds_max = options_.cpu_seconds_max;
    const Launched launched = launch(what);
    if (launched.pid < 0) {
        const bool is_directory = std::string_view(launched.step) == "chdir";
        return (is_directory ? "working_directory " + options_.working_directory : std::string(launched.step)) + ": " +
               error_words(launched.error);
    }
    pid_ = launched.pid;
    // The header of glibc 2.36 cannot be used from C++, so call the system call directly.
    pidfd_ = UniqueFd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0U)));
    if (pidfd_.get() < 0) {
        const int error = errno;
        signal_group(SIGKILL);
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
        }
        pid_ = -1;
        return "pidfd_open: " + error_words(error);
    }
    return {};
}

/// Until the process is reaped, its pid cannot be reused for another group.
void ChildProcess::signal_group(int number) const noexcept {
    (void)::kill(-pid_, number);
}

std::string ChildProcess::collect() {
    signal_group(SIGKILL);
    siginfo_t info{};
    while (::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &info, WEXITED) != 0 && errno == EINTR) {
    }
    close_output();
    close_errors();
    pidfd_ = {};
    pid_ = -1;
    is_ending_ = false;
    if (info.si_code == CLD_EXITED) {
        return info.si_status == 0 ? "" : "exited with status " + std::to_string(info.si_status);
    }
    return "killed by " + signal_name(info.si_status);
}

void ChildProcess::begin_end() noexcept {
    if (!exists() || is_ending_) {
        return;
    }
    is_ending_ = true;
    kill_at_ = std::chrono::steady_clock::now() + end_patience;
    signal_group(SIGTERM);
    close_output();
    close_errors();
}

bool ChildProcess::finish_end(const CancelSignal* cancel) noexcept {
    while (exists()) {
        const MonoTime deadline = is_killed_ ? kill_at_ + end_patience : kill_at_;
        Woken woken = wait_for(pidfd_.get(), POLLIN, cancel, deadline).woken;
        if (woken == Woken::canceled) {
            const MonoTime soon = std::chrono::steady_clock::now() + canceled_patience;
            woken = wait_for(pidfd_.get(), POLLIN, nullptr, std::min(deadline, soon)).woken;
        }
        if (woken == Woken::ready) {
            (void)collect();
        } else if (is_killed_) {
            return false;
        } else {
            signal_group(SIGKILL);
            is_killed_ = true;
            kill_at_ = std::chrono::steady_clock::now();
        }
    }
    return true;
}

}  // namespace telegate::exec
