#pragma once

#include <cerrno>
#include <system_error>

namespace telegate::perf {

/// The result of a system call, unless it is negative: then throws std::system_error.
inline int checked(int result, const char* what) {
    if (result < 0) {
        throw std::system_error(errno, std::generic_category(), what);
    }
    return result;
}

}  // namespace telegate::perf
