#include "core/start_thread.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <system_error>
#include <utility>

namespace telegate {
namespace {

/// struct sched_attr of the kernel, which glibc has since 2.41.
struct SchedulingAttributes {
    std::uint32_t size = sizeof(SchedulingAttributes);
    std::uint32_t policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0;
    std::uint64_t deadline = 0;
    std::uint64_t period = 0;
};

/// Returns the limit that systemd calls TasksMax, or "" if there is none.
std::string control_group_limit() {
    std::ifstream groups("/proc/self/cgroup");
    std::string line;
    while (std::getline(groups, line)) {
        if (line.starts_with("0::")) {
            std::ifstream file("/sys/fs/cgroup" + line.substr(3) + "/pids.max");
            std::string limit;
            std::getline(file, limit);
            return limit;
        }
    }
    return "";
}

std::string thread_limits() {
    const std::string group = control_group_limit();
    rlimit user{};
    ::getrlimit(RLIMIT_NPROC, &user);
    return "limits: TasksMax " + (group.empty() ? "unknown" : group) + ", LimitNPROC " +
           (user.rlim_cur == RLIM_INFINITY ? "max" : std::to_string(user.rlim_cur));
}

}  // namespace

void name_thread(const std::string& name) noexcept {
    std::array<char, thread_name_bytes_max + 1> kept{};
    name.copy(kept.data(), thread_name_bytes_max);
    ::pthread_setname_np(::pthread_self(), kept.data());
}

std::thread start_thread(const std::string& name, std::function<void()> body) {
    try {
        return std::thread([name, body = std::move(body)] {
            name_thread(name);
            body();
        });
    } catch (const std::system_error& error) {
        throw std::system_error(error.code(), "cannot start thread " + name + " (" + thread_limits() + ')');
    }
}

void lower_priority() noexcept {
    constexpr int nice_max = 19;
    constexpr int nice_more = 10;
    SchedulingAttributes wanted;
    wanted.policy = SCHED_OTHER;
    wanted.nice = std::min(::getpriority(PRIO_PROCESS, 0) + nice_more, nice_max);
    static_cast<void>(::syscall(SYS_sched_setattr, 0, &wanted, 0U));  // which telegate.service allows
}

}  // namespace telegate
