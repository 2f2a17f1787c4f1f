#pragma once

#include "delay_counts.hpp"
#include "system.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>

/// How long this machine takes to wake a thread.
namespace telegate::perf {

/// Wakes a thread directly. Threads: two. Failure: the constructor throws std::system_error.
struct EventfdBell {
    const UniqueFd end{checked(::eventfd(0, EFD_CLOEXEC), "eventfd")};

    void ring() const { ::eventfd_write(end.get(), 1); }
    [[nodiscard]] std::size_t take_rings() const {
        eventfd_t rings = 0;
        return ::eventfd_read(end.get(), &rings) == 0 ? rings : 0;
    }
};

/// Wakes a thread as a subscriber over tcp is woken. Threads: two. Failure: throws std::system_error.
struct TcpBell {
    const LocalListener listener{};
    const UniqueFd other = connect_to(listener.address);
    const UniqueFd end = listener.accept();

    void ring() const { checked(::send(other.get(), "", 1, MSG_NOSIGNAL), "send"); }
    [[nodiscard]] std::size_t take_rings() const {
        std::array<char, 256> rings{};
        const ssize_t bytes = ::recv(end.get(), rings.data(), rings.size(), 0);
        return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
    }
};

/// Rings `count` times at this interval, while another thread sleeps in poll(). A delay begins just before the ring and
/// ends when the other thread has read it. Throws std::system_error without descriptors or threads.
template <class Bell>
[[nodiscard]] DelayCounts measure_wake_ups(std::chrono::nanoseconds interval, std::size_t count) {
    using SteadyClock = std::chrono::steady_clock;
    const Bell bell;
    std::vector<std::atomic<SteadyClock::rep>> given(count);  // the time of each ring
    DelayCounts delays;
    std::thread listener([&] {
        for (std::size_t heard = 0; heard < count;) {
            pollfd waiting{bell.end.get(), POLLIN, 0};
            ::poll(&waiting, 1, -1);
            std::size_t rings = bell.take_rings();
            const auto now = SteadyClock::now().time_since_epoch().count();
            for (; rings > 0; --rings, ++heard) {
                delays.add(now - given[heard].load(std::memory_order_relaxed), 1);
            }
        }
    });
    auto due = SteadyClock::now();
    for (auto& time : given) {
        due += interval;
        std::this_thread::sleep_until(due);
        time.store(SteadyClock::now().time_since_epoch().count(), std::memory_order_relaxed);
        bell.ring();
    }
    listener.join();
    return delays;
}

}  // namespace telegate::perf
