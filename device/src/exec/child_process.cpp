#include "exec/child_process.hpp"

#include "exec/launch.hpp"
#include "path_fault.hpp"
#include "wait.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace telegate::exec {
namespace {

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
