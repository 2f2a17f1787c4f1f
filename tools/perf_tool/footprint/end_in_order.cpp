#include "end_in_order.hpp"

#include <cmath>
#include <cstring>
#include <ctime>
#include <stdexcept>
#include <string>

namespace telegate::perf {

namespace {

sigset_t ends() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGINT);
    ::sigaddset(&set, SIGTERM);
    return set;
}

}  // namespace

EndInOrder::EndInOrder() {
    const sigset_t waited = ends();
    ::pthread_sigmask(SIG_BLOCK, &waited, &before_);
}

EndInOrder::~EndInOrder() {
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void let_pass(double seconds) {
    constexpr double ns_per_second = 1e9;
    const double whole = std::floor(seconds);
    const timespec time{static_cast<time_t>(whole), static_cast<long>((seconds - whole) * ns_per_second)};
    const sigset_t waited = ends();
    const int signal = ::sigtimedwait(&waited, nullptr, &time);
    if (signal > 0) {
        throw std::runtime_error(std::string("ended by ") + ::strsignal(signal));
    }
}

}  // namespace telegate::perf
