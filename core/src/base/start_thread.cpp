#include "core/start_thread.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <fstream>
#include <system_error>
#include <utility>

namespace telegate {
namespace {

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

std::thread start_thread(const std::string& name, std::function<void()> body) {
    try {
        return std::thread([kept = name.substr(0, thread_name_bytes_max), body = std::move(body)] {
            ::pthread_setname_np(::pthread_self(), kept.c_str());
            body();
        });
    } catch (const std::system_error& error) {
        throw std::system_error(error.code(), "cannot start thread " + name + " (" + thread_limits() + ')');
    }
}

}  // namespace telegate
