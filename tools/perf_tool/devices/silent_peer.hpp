#pragma once

#include "system.hpp"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <utility>
#include <vector>

namespace telegate::perf {

/// Listens on a free port of the loopback interface, accepts connections, reads all data and never responds, like a
/// device that hangs.
///
/// Threads: the owner's, and one of its own; accepted() any.
/// Limits:  connections_max connections; others wait to be accepted.
/// Failure: the constructor throws std::system_error.
class SilentPeer {
  public:
    static constexpr std::size_t connections_max = 512;  // a process has 1,024 descriptors by default

    SilentPeer() : thread_([this] { run(); }) {}
    ~SilentPeer() {
        ::eventfd_write(stop_.get(), 1);
        thread_.join();
    }
    SilentPeer(const SilentPeer&) = delete;
    SilentPeer& operator=(const SilentPeer&) = delete;

    [[nodiscard]] std::uint16_t port() const noexcept { return listener_.port(); }
    [[nodiscard]] std::uint64_t accepted() const noexcept { return accepted_.load(std::memory_order_relaxed); }

  private:
    void run() {
        std::vector<pollfd> waited;
        for (;;) {
            const short accepting = connections_.size() < connections_max ? POLLIN : 0;
            waited.assign({{stop_.get(), POLLIN, 0}, {listener_.socket.get(), accepting, 0}});
            const std::size_t before = waited.size();
            for (const UniqueFd& connection : connections_) {
                waited.push_back({connection.get(), POLLIN, 0});
            }
            (void)::poll(waited.data(), waited.size(), -1);
            if (waited[0].revents != 0) {
                return;
            }
            for (std::size_t place = connections_.size(); place-- > 0;) {
                if (waited[before + place].revents != 0 && !is_open(connections_[place])) {
                    std::swap(connections_[place], connections_.back());
                    connections_.pop_back();
                }
            }
            if (waited[1].revents != 0) {
                accept_one();
            }
        }
    }

    /// Discards the data that arrived. Returns false at the end of the connection.
    [[nodiscard]] static bool is_open(const UniqueFd& connection) {
        std::array<char, 1'024> ignored{};
        const ssize_t bytes = ::recv(connection.get(), ignored.data(), ignored.size(), MSG_DONTWAIT);
        return bytes > 0 || (bytes < 0 && (errno == EAGAIN || errno == EINTR));
    }

    void accept_one() {
        UniqueFd connection(::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (connection.get() >= 0) {
            connections_.push_back(std::move(connection));
            accepted_.fetch_add(1, std::memory_order_relaxed);
        }
    }

    const LocalListener listener_{AF_INET, SOCK_NONBLOCK};
    const UniqueFd stop_{checked(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")};
    std::vector<UniqueFd> connections_;  // of the thread
    std::atomic<std::uint64_t> accepted_{0};
    std::thread thread_;
};

}  // namespace telegate::perf
