#include "core/waker.hpp"

#include "core/assert.hpp"
#include "core/clock.hpp"

#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
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
    if (!pending_.set()) {
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
    pending_.clear();
}

QueueWaker::QueueWaker() : timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
    if (timer_.get() < 0) {
        throw std::system_error(errno, std::generic_category(), "timerfd_create");
    }
}

void QueueWaker::wake_later() noexcept {
    if (!timer_on_.set()) {
        return;
    }
    timers_.fetch_add(1, std::memory_order_relaxed);
    // Low-power mode may have ended in the meantime; a time of 0 would stop the timer.
    const auto delay = std::max(delay_.load(std::memory_order_relaxed), std::chrono::milliseconds(1));
    const itimerspec time{.it_interval = {}, .it_value = to_timespec(delay)};
    // Cannot fail: this object owns the descriptor, and the time is valid.
    [[maybe_unused]] const int result = ::timerfd_settime(timer_.get(), 0, &time, nullptr);
}

void QueueWaker::clear_late() noexcept {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto taken = ::read(timer_.get(), &count, sizeof count);
    timer_on_.clear();
}

void QueueWaker::begin_low_power(std::chrono::milliseconds delay) noexcept {
    TELEGATE_ASSERT(delay.count() > 0);
    delay_.store(delay, std::memory_order_relaxed);
}

void QueueWaker::end_low_power() noexcept {
    delay_.store(std::chrono::milliseconds(0), std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace telegate
