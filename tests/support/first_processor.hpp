#pragma once

#include <sched.h>

#include <cerrno>
#include <system_error>

namespace telegate::test {

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
