#pragma once

#include <sys/socket.h>

#include <vector>

namespace telegate::transport {

/// An address of any family, as the socket calls take and give it.
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

/// Where to connect: addresses to try in order. Without any, `error` says why.
struct Destination {
    std::vector<SocketAddress> addresses;
    int error = 0;
};

}  // namespace telegate::transport
