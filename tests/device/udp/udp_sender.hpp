#pragma once

#include "support/catch.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace telegate::test {

/// Sends datagrams to a port of this machine.
class UdpSender {
  public:
    explicit UdpSender(std::uint16_t port, const std::string& address = "127.0.0.1") {
        to_.sin_family = AF_INET;
        to_.sin_port = htons(port);
        REQUIRE(::inet_pton(AF_INET, address.c_str(), &to_.sin_addr) == 1);
        descriptor_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        REQUIRE(descriptor_ >= 0);
        in_addr local{htonl(INADDR_LOOPBACK)};
        REQUIRE(::setsockopt(descriptor_, IPPROTO_IP, IP_MULTICAST_IF, &local, sizeof(local)) == 0);
    }
    ~UdpSender() { ::close(descriptor_); }
    UdpSender(const UdpSender&) = delete;
    UdpSender& operator=(const UdpSender&) = delete;

    void send(std::string_view bytes) const {
        const auto sent =
            ::sendto(descriptor_, bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&to_), sizeof(to_));
        REQUIRE(sent == static_cast<ssize_t>(bytes.size()));
    }

  private:
    sockaddr_in to_{};
    int descriptor_ = -1;
};

}  // namespace telegate::test
