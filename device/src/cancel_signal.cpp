#include "device/cancel_signal.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <system_error>

namespace telegate {

CancelSignal::CancelSignal() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_.get() < 0) {
        throw std::system_error(errno, std::system_category(), "eventfd");
    }
}

void CancelSignal::set() noexcept {
    if (!is_set()) {
        set_.store(true, std::memory_order_relaxed);
        (void)::eventfd_write(descriptor_.get(), 1);
    }
}

void CancelSignal::clear() noexcept {
    if (is_set()) {
        set_.store(false, std::memory_order_relaxed);
        eventfd_t count = 0;
        (void)::eventfd_read(descriptor_.get(), &count);
    }
}

WaitResult wait_for(int descriptor, short events, const CancelSignal* cancel, MonoTime until) noexcept {
    std::array<pollfd, 2> watched{pollfd{cancel == nullptr ? -1 : cancel->descriptor(), POLLIN, 0},
                                  pollfd{descriptor, events, 0}};
    for (;;) {
        const Duration left = std::max(Duration::zero(), Duration(until - std::chrono::steady_clock::now()));
        const timespec time = to_timespec(left);
        const int count = ::ppoll(watched.data(), watched.size(), &time, nullptr);
        if (count < 0 && errno != EINTR) {
            return {Woken::ready, POLLERR};  // the next operation on the descriptor returns the error
        }
        if (cancel != nullptr && cancel->is_set()) {
            return {Woken::canceled, 0};
        }
        if (count > 0 && watched[1].revents != 0) {
            return {Woken::ready, watched[1].revents};
        }
        if (left == Duration::zero()) {
            return {Woken::timed_out, 0};
        }
    }
}

}  // namespace telegate
