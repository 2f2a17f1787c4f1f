#include "harness.hpp"

#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>
#include <stdexcept>
#include <system_error>

namespace telegate::perf {

namespace {

double seconds_of(clockid_t clock) noexcept {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

/// Whether the child has gone within stillness_max.
bool has_gone(pid_t child) noexcept {
    const auto deadline = std::chrono::steady_clock::now() + stillness_max;
    while (std::chrono::steady_clock::now() < deadline) {
        if (::waitpid(child, nullptr, WNOHANG) != 0) {
            return true;
        }
        nap();
    }
    return false;
}

}  // namespace

double process_cpu_seconds() noexcept {
    return seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

double thread_cpu_seconds() noexcept {
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

ReceiverThreads::~ReceiverThreads() {
    board_.stop();
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

double ReceiverThreads::cpu_seconds() {
    double sum = 0;
    for (std::thread& thread : threads_) {
        clockid_t clock{};
        sum += ::pthread_getcpuclockid(thread.native_handle(), &clock) == 0 ? seconds_of(clock) : 0;
    }
    return sum;
}

void ReceiverProcesses::start(std::size_t receiver, const std::function<void()>& body) {
    const pid_t parent = ::getpid();
    const pid_t child = ::fork();
    if (child < 0) {
        throw std::system_error(errno, std::generic_category(), "fork");
    }
    if (child > 0) {
        children_.push_back(child);
        return;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // however the parent ends
    if (::getppid() == parent) {
        try {
            body();
        } catch (const std::exception& error) {
            board_.report_failed(receiver, error.what());
        }
    }
    ::_exit(0);  // what the parent has open and buffered is not ours
}

void ReceiverProcesses::check() {
    board_.check();
    for (const pid_t child : children_) {
        siginfo_t info{};
        const int result = ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT);
        if (result == 0 && info.si_pid == child && !board_.is_stopped()) {
            board_.check();  // it went because it failed
            throw std::runtime_error("a receiving process has died");
        }
    }
}

ReceiverProcesses::~ReceiverProcesses() {
    board_.stop();
    for (const pid_t child : children_) {
        if (!has_gone(child)) {
            ::kill(child, SIGKILL);
            ::waitpid(child, nullptr, 0);
        }
    }
}

}  // namespace telegate::perf
