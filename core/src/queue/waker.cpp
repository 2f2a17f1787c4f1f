#include "core/waker.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <system_error>

namespace telegate {

Waker::Waker() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (descriptor_.get() < 0) {
        throw std::system_error(errno, std::generic_category(), "eventfd");
    }
}

void Waker::wake() noexcept {
    if (pending_.exchange(true)) {
        return;
    }
    signaled_.fetch_add(1, std::memory_order_relaxed);
    const std::uint64_t one = 1;
    // Cannot fail: this object owns the descriptor, and its count is at most one.
    [[maybe_unused]] const auto written = ::write(descriptor_.get(), &one, sizeof one);
}

void Waker::clear() noexcept {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto taken = ::read(descriptor_.get(), &count, sizeof count);
    pending_.exchange(false);
}

}  // namespace telegate
