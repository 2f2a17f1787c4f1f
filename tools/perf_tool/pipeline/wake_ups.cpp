#include "wake_ups.hpp"

#include "checked.hpp"
#include "core/unique_fd.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>
#include <utility>
#include <vector>

namespace telegate::perf {

namespace {

using SteadyClock = std::chrono::steady_clock;

/// The two ends of a bell. An eventfd has one for both.
class BellEnds {
  public:
    explicit BellEnds(Bell bell) : bell_(bell) {
        if (bell == Bell::eventfd) {
            near_ = UniqueFd(checked(::eventfd(0, EFD_CLOEXEC), "eventfd"));
        } else {
            connect_both();
        }
    }

    void ring() const {
        if (bell_ == Bell::eventfd) {
            ::eventfd_write(near_.get(), 1);
        } else {
            checked(static_cast<int>(::send(near_.get(), "", 1, MSG_NOSIGNAL)), "send");
        }
    }

    /// Waits, and says how often it was rung since the last time.
    [[nodiscard]] std::size_t wait() const {
        const int end = bell_ == Bell::eventfd ? near_.get() : far_.get();
        pollfd waiting{end, POLLIN, 0};
        ::poll(&waiting, 1, -1);
        if (bell_ == Bell::eventfd) {
            eventfd_t rings = 0;
            return ::eventfd_read(end, &rings) == 0 ? rings : 0;
        }
        std::array<char, 256> rings{};
        const ssize_t bytes = ::recv(end, rings.data(), rings.size(), 0);
        return bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
    }

  private:
    void connect_both() {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        auto* const name = reinterpret_cast<sockaddr*>(&address);
        socklen_t bytes = sizeof address;
        const UniqueFd listener(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
        checked(::bind(listener.get(), name, bytes), "bind");
        checked(::listen(listener.get(), 1), "listen");
        checked(::getsockname(listener.get(), name, &bytes), "getsockname");
        near_ = UniqueFd(checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
        checked(::connect(near_.get(), name, bytes), "connect");
        far_ = UniqueFd(checked(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC), "accept"));
        const int at_once = 1;
        checked(::setsockopt(near_.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, sizeof at_once), "TCP_NODELAY");
    }

    const Bell bell_;
    UniqueFd near_;
    UniqueFd far_;
};

/// Hears every ring; each was given at the time in `given` that belongs to it.
void hear_all(const BellEnds& bell_ends, const std::vector<std::atomic<SteadyClock::rep>>& given, DelayCounts& delays) {
    for (std::size_t heard = 0; heard < given.size();) {
        std::size_t rings = bell_ends.wait();
        const auto now = SteadyClock::now().time_since_epoch().count();
        for (; rings > 0; --rings, ++heard) {
            delays.add(now - given[heard].load(std::memory_order_relaxed), 1);
        }
    }
}

}  // namespace

DelayCounts measure_wake_ups(Bell bell, std::chrono::nanoseconds interval, std::size_t count) {
    const BellEnds bell_ends(bell);
    std::vector<std::atomic<SteadyClock::rep>> given(count);
    DelayCounts delays;
    std::thread listener([&] { hear_all(bell_ends, given, delays); });
    auto due = SteadyClock::now();
    for (auto& time : given) {
        due += interval;
        std::this_thread::sleep_until(due);
        time.store(SteadyClock::now().time_since_epoch().count(), std::memory_order_relaxed);
        bell_ends.ring();
    }
    listener.join();
    return delays;
}

}  // namespace telegate::perf
