#pragma once

#include <sys/socket.h>

#include <vector>

namespace telegate::transport {

/// A socket address of any family, in the form that the system calls use.
struct SocketAddress {
    sockaddr_storage storage{};
    socklen_t bytes = 0;

    [[nodiscard]] int family() const noexcept { return storage.ss_family; }
    [[nodiscard]] sockaddr* get() noexcept { return reinterpret_cast<sockaddr*>(&storage); }
    [[nodiscard]] const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&storage); }
    template <class Address>
    [[nodiscard]] Address& as() noexcept {
        return reinterpret_cast<Address&>(storage);
    }
    template <class Address>
    [[nodiscard]] const Address& as() const noexcept {
        return reinterpret_cast<const Address&>(storage);
    }
};

/// The addresses to connect to, in order. If there are none, `error` is the reason.
struct Destination {
    std::vector<SocketAddress> addresses;
    int error = 0;
};

}  // namespace telegate::transport
