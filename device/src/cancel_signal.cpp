#include "device/cancel_signal.hpp"

#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>

namespace telegate {

CancelSignal::CancelSignal() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_.get() < 0) {
        throw std::system_error(errno, std::system_category(), "eventfd");
    }
}

void CancelSignal::set() noexcept {
    const std::lock_guard lock(mutex_);
    if (!set_.exchange(true, std::memory_order_release)) {
        (void)::eventfd_write(descriptor_.get(), 1);
    }
}

void CancelSignal::clear() noexcept {
    if (!is_set()) {
        return;
    }
    const std::lock_guard lock(mutex_);
    if (set_.exchange(false, std::memory_order_release)) {
        eventfd_t count = 0;
        (void)::eventfd_read(descriptor_.get(), &count);
    }
}

}  // namespace telegate
