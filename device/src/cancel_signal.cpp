#include "device/cancel_signal.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace telegate {
namespace {

int open_descriptor() {
    const int descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (descriptor < 0) {
        throw std::system_error(errno, std::system_category(), "eventfd");
    }
    return descriptor;
}

}  // namespace

CancelSignal::CancelSignal() : descriptor_(open_descriptor()) {}

CancelSignal::~CancelSignal() {
    ::close(descriptor_);
}

void CancelSignal::set() noexcept {
    const std::lock_guard lock(mutex_);
    if (!set_.exchange(true, std::memory_order_release)) {
        (void)::eventfd_write(descriptor_, 1);
    }
}

void CancelSignal::clear() noexcept {
    if (!is_set()) {
        return;
    }
    const std::lock_guard lock(mutex_);
    if (set_.exchange(false, std::memory_order_release)) {
        eventfd_t count = 0;
        (void)::eventfd_read(descriptor_, &count);
    }
}

}  // namespace telegate
