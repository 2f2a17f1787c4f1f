#include "conformance/conformance.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace telegate::test {
namespace {

/// Returns a loopback address of this process alone, so that a port found free stays free.
std::string own_address() {
    const auto process = static_cast<unsigned>(::getpid());
    return "127." + std::to_string(1 + (process >> 16U) % 250) + '.' + std::to_string((process >> 8U) & 255U) + '.' +
           std::to_string(process & 255U);
}

Endpoint free_port(const ScratchDir& /*unused*/) {
    const Endpoint any{Transport::tcp, own_address(), 0, {}};
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    ::inet_pton(AF_INET, any.host.c_str(), &address.sin_addr);
    socklen_t bytes = sizeof address;
    const bool found = ::bind(socket, reinterpret_cast<const sockaddr*>(&address), bytes) == 0 &&
                       ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &bytes) == 0;
    ::close(socket);
    if (!found) {
        throw std::runtime_error("no free port at " + any.host);
    }
    return {Transport::tcp, any.host, ntohs(address.sin_port), {}};
}

const ConformingTransport tcp({"tcp",
                               [](const ScratchDir&) {
                                   return Endpoint{Transport::tcp, "127.0.0.1", 0, {}};
                               },
                               free_port, true});
const ConformingTransport tcp_on_threads({"tcp, two threads",
                                          [](const ScratchDir&) {
                                              return Endpoint{Transport::tcp, "127.0.0.1", 0, {}};
                                          },
                                          free_port, true, 2});

}  // namespace
}  // namespace telegate::test
