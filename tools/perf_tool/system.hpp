#pragma once

#include "core/unique_fd.hpp"

#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/socket.h>
#include <time.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

/// Wrappers of system calls.
namespace telegate::perf {

/// Returns the result of a system call. Throws std::system_error if it is negative.
template <class Result>
Result checked(Result result, const char* what) {
    if (result < 0) {
        throw std::system_error(errno, std::generic_category(), what);
    }
    return result;
}

/// Returns the CPU time of a process or thread in nanoseconds.
[[nodiscard]] inline double cpu_ns_of(clockid_t clock) noexcept {
    timespec time{};
    ::clock_gettime(clock, &time);
    return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

/// Returns the bytes allocated on the heap of the process; 0 with a sanitizer.
[[nodiscard]] inline std::size_t bytes_allocated() noexcept {
    const auto heap = ::mallinfo2();
    return heap.uordblks + heap.hblkhd;
}

inline void set_socket_option(int socket, int level, int name, int value) {
    checked(::setsockopt(socket, level, name, &value, sizeof value), "setsockopt");
}

/// A listening socket: on a free port of the loopback interface, or a Unix socket whose name, without a file, the
/// kernel chooses.
struct LocalListener {
    UniqueFd socket;
    std::string address;  // for connect_to(), which is not text

    /// Throws std::system_error. The family is AF_INET or AF_UNIX; `flags` are those of socket(), such as
    /// SOCK_NONBLOCK.
    explicit LocalListener(sa_family_t family = AF_INET, int flags = 0)
        : socket(checked(::socket(family, SOCK_STREAM | SOCK_CLOEXEC | flags, 0), "socket")) {
        sockaddr_storage storage{};
        storage.ss_family = family;
        socklen_t bytes = sizeof(sa_family_t);
        if (family == AF_INET) {
            reinterpret_cast<sockaddr_in&>(storage).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            bytes = sizeof(sockaddr_in);
            set_socket_option(socket.get(), IPPROTO_TCP, TCP_NODELAY, 1);  // accepted connections inherit it
        }
        auto* const generic = reinterpret_cast<sockaddr*>(&storage);
        checked(::bind(socket.get(), generic, bytes), "bind");
        checked(::listen(socket.get(), SOMAXCONN), "listen");
        bytes = sizeof storage;
        checked(::getsockname(socket.get(), generic, &bytes), "getsockname");
        address.assign(reinterpret_cast<const char*>(&storage), bytes);
    }

    [[nodiscard]] std::uint16_t port() const noexcept {
        return ntohs(reinterpret_cast<const sockaddr_in*>(address.data())->sin_port);
    }
    /// Throws std::system_error.
    [[nodiscard]] UniqueFd accept() const {
        return UniqueFd(checked(::accept4(socket.get(), nullptr, nullptr, SOCK_CLOEXEC), "accept4"));
    }
};

/// Connects to a LocalListener, with TCP_NODELAY. A receive buffer of 0 bytes is the system's default. Throws
/// std::system_error.
[[nodiscard]] inline UniqueFd connect_to(const std::string& address, int receive_buffer_bytes = 0) {
    const auto* const generic = reinterpret_cast<const sockaddr*>(address.data());
    UniqueFd socket(checked(::socket(generic->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
    if (receive_buffer_bytes > 0) {  // before connecting, because it determines the window scale
        set_socket_option(socket.get(), SOL_SOCKET, SO_RCVBUF, receive_buffer_bytes);
    }
    checked(::connect(socket.get(), generic, static_cast<socklen_t>(address.size())), "connect");
    if (generic->sa_family == AF_INET) {
        set_socket_option(socket.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    }
    return socket;
}

/// The processors of the two threads of a round trip; none if the system chooses.
struct Placement {
    std::optional<int> asking;
    std::optional<int> answering;
};

[[nodiscard]] inline cpu_set_t allowed_processors() {
    cpu_set_t set;
    checked(::sched_getaffinity(0, sizeof set, &set), "sched_getaffinity");
    return set;
}

/// "apart": the first and the last available processor, which are on different cores if there are four or more;
/// "together": both on the first; "free": the system chooses. With one processor, "apart" is the same as "free".
[[nodiscard]] inline Placement placement_of(std::string_view name) {
    const cpu_set_t set = allowed_processors();
    std::optional<int> first;
    std::optional<int> last;
    for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
        if (CPU_ISSET(static_cast<unsigned>(processor), &set)) {
            first = first ? first : processor;
            last = processor;
        }
    }
    if (name == "together") {
        return {first, first};
    }
    return name == "apart" && first != last ? Placement{first, last} : Placement{};
}

[[nodiscard]] inline std::string words_of(const Placement& placement) {
    if (!placement.asking || !placement.answering) {
        return "not pinned";
    }
    const std::string first = std::to_string(*placement.asking);
    return placement.asking == placement.answering
               ? "both pinned to processor " + first
               : "pinned to processors " + first + " and " + std::to_string(*placement.answering);
}

/// Pins the current thread to a processor while it exists.
/// Threads: one. Limits: none. Failure: throws std::system_error.
class Pin {
  public:
    explicit Pin(std::optional<int> processor) {
        if (processor) {
            before_ = allowed_processors();
            cpu_set_t one;
            CPU_ZERO(&one);
            CPU_SET(static_cast<unsigned>(*processor), &one);
            checked(::sched_setaffinity(0, sizeof one, &one), "sched_setaffinity");
        }
    }
    ~Pin() {
        if (before_) {
            ::sched_setaffinity(0, sizeof *before_, &*before_);
        }
    }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

  private:
    std::optional<cpu_set_t> before_;
};

}  // namespace telegate::perf
