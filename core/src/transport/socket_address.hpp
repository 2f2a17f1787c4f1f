#pragma once

#include "core/endpoint.hpp"

#include <sys/socket.h>

#include <string>
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

/// Returns the addresses of a tcp endpoint: one, two for "localhost" (IPv4 first), or the first of an interface, IPv4
/// before IPv6. Returns none, with EINVAL, or with ENODEV for an unknown interface or zone.
[[nodiscard]] Destination resolve(const Endpoint& endpoint);

/// Returns the numeric endpoint of an address. An IPv4 address in IPv6 form is shown as IPv4.
[[nodiscard]] Endpoint to_endpoint(const SocketAddress& address);

/// Returns the address of a socket that another process has bound, and makes it non-blocking and close-on-exec. Throws
/// std::system_error if it is not a listening stream socket; `endpoint` is where it should listen.
[[nodiscard]] SocketAddress listening_address(int descriptor, const Endpoint& endpoint);

/// Throws std::system_error: the socket inherited for `endpoint` is not the right one; `what` completes the sentence.
[[noreturn]] void refuse_adopted(const Endpoint& endpoint, const std::string& what);

}  // namespace telegate::transport
