#include "address.hpp"

#include <arpa/inet.h>
#include <net/if.h>
#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <memory>
#include <stdexcept>

namespace telegate::tail {
namespace {

bool is_known_to_sockets(const std::string& host) {
    std::array<unsigned char, sizeof(in6_addr)> address{};
    return host == "localhost" || ::inet_pton(AF_INET, host.c_str(), address.data()) == 1 ||
           host.find(':') != std::string::npos || ::if_nametoindex(host.c_str()) != 0;
}

}  // namespace

Endpoint resolved(Endpoint endpoint) {
    if (endpoint.transport != Transport::tcp || is_known_to_sockets(endpoint.host)) {
        return endpoint;
    }
    addrinfo hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int error = ::getaddrinfo(endpoint.host.c_str(), nullptr, &hints, &found);
    if (error != 0) {
        throw std::runtime_error("cannot resolve \"" + endpoint.host + "\": " + ::gai_strerror(error));
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
    std::array<char, NI_MAXHOST> text{};
    if (::getnameinfo(found->ai_addr, found->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) {
        throw std::runtime_error("cannot resolve \"" + endpoint.host + "\": no usable address");
    }
    endpoint.host = text.data();
    return endpoint;
}

}  // namespace telegate::tail
