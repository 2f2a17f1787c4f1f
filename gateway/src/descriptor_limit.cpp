#include "descriptor_limit.hpp"

#include <sys/resource.h>

namespace telegate {

std::size_t raise_descriptor_limit() noexcept {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    if (limit.rlim_cur < limit.rlim_max && ::setrlimit(RLIMIT_NOFILE, &raised) == 0) {
        return raised.rlim_cur;
    }
    return limit.rlim_cur;
}

}  // namespace telegate
