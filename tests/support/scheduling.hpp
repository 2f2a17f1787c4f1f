#pragma once

#include <linux/capability.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <exception>
#include <functional>
#include <system_error>
#include <thread>

namespace telegate::test {

/// Removes CAP_SYS_NICE from this thread only.
inline void drop_nice() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
    if (::syscall(SYS_capget, &header, sets.data()) != 0) {
        throw std::system_error(errno, std::generic_category(), "capget");
    }
    sets[CAP_TO_INDEX(CAP_SYS_NICE)].effective &= ~CAP_TO_MASK(CAP_SYS_NICE);
    if (::syscall(SYS_capset, &header, sets.data()) != 0) {
        throw std::system_error(errno, std::generic_category(), "capset");
    }
}

/// Runs `body` in a thread that may not use real-time priorities, and neither may the threads that it creates.
/// The limit of the process is lowered meanwhile, which does not affect threads that have CAP_SYS_NICE.
inline void without_nice(const std::function<void()>& body) {
    rlimit before{};
    ::getrlimit(RLIMIT_RTPRIO, &before);
    const rlimit none{0, before.rlim_max};
    ::setrlimit(RLIMIT_RTPRIO, &none);
    std::exception_ptr fault;
    std::thread([&] {
        try {
            drop_nice();
            body();
        } catch (...) {
            fault = std::current_exception();
        }
    }).join();
    ::setrlimit(RLIMIT_RTPRIO, &before);
    if (fault) {
        std::rethrow_exception(fault);
    }
}

/// Returns the lowest-numbered processor that this thread may run on.
inline unsigned first_processor() {
    cpu_set_t set;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) {
        throw std::system_error(errno, std::generic_category(), "sched_getaffinity");
    }
    unsigned number = 0;
    while (!CPU_ISSET(number, &set)) {
        ++number;
    }
    return number;
}

}  // namespace telegate::test
