#include "reactor/busy_polls.hpp"

#include "core/limits.hpp"

#include <algorithm>
#include <thread>

namespace telegate {
namespace {

constexpr int polls_between_clock_readings = 32;

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
    __asm__ __volatile__("yield");
#endif
}

}  // namespace

void BusyPolls::remove(const BusyPolled& polled) noexcept {
    std::erase(polled_, &polled);
}

bool BusyPolls::poll() {
    bool any = false;
    std::size_t index = 0;
    for (std::size_t left = polled_.size(); left > 0 && index < polled_.size(); --left) {
        BusyPolled& polled = *polled_[index];
        if (!polled.poll()) {
            ++index;
            continue;
        }
        any = true;
        polled_.erase(polled_.begin() + static_cast<std::ptrdiff_t>(index));
        polled.found();  // may add entries at the end, and remove entries
    }
    return any;
}

bool BusyPolls::wait(std::chrono::steady_clock::time_point deadline) {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point end = std::min(deadline, Clock::now() + limits::busy_poll_time);
    do {
        for (int polls = 0; polls < polls_between_clock_readings; ++polls) {
            if (poll()) {
                return true;
            }
            pause();
        }
        std::this_thread::yield();  // to the other thread, if it shares this core
    } while (Clock::now() < end);
    sleep();
    return false;
}

void BusyPolls::sleep() {
    while (!polled_.empty()) {
        BusyPolled& polled = *polled_.back();
        polled_.pop_back();
        polled.not_found();
    }
}

}  // namespace telegate
