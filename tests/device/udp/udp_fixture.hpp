#pragma once

#include "device/driver_bench.hpp"
#include "support/catch.hpp"
#include "support/eventually.hpp"
#include "udp/udp_driver.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

/// A UDP device that listens on its own port, a sender, and the samples so far.
class UdpFixture {
  public:
    explicit UdpFixture(UdpDriverOptions options = {}) {
        options.port = 0;
        const std::string to = options.multicast_group.empty() ? "127.0.0.1" : options.multicast_group;
        auto driver = std::make_unique<udp::UdpDriver>(std::move(options));
        driver_ = driver.get();
        bench.emplace(std::move(driver));
        // The first read opens the socket without waiting.
        REQUIRE(bench->reads_ok());
        keep();
        sender.emplace(driver_->port(), to);
    }

    /// Reads until the channel has this number of samples.
    bool reads_until(std::string_view channel, std::size_t count = 1) {
        return eventually([&] {
                   if (samples_of(channel).size() >= count) {
                       return true;
                   }
                   const bool is_ok = bench->reads_ok();
                   keep();
                   return !is_ok || samples_of(channel).size() >= count;
               }) &&
               samples_of(channel).size() >= count;
    }
    void read() {
        REQUIRE(bench->reads_ok());
        keep();
    }

    [[nodiscard]] std::vector<TelemetrySample> samples_of(std::string_view channel) const {
        std::vector<TelemetrySample> found;
        for (const TelemetrySample& sample : all) {
            if (bench->name_of(sample) == channel) {
                found.push_back(sample);
            }
        }
        return found;
    }
    [[nodiscard]] TelemetrySample last_of(std::string_view channel) const {
        CAPTURE(channel);
        const auto found = samples_of(channel);
        REQUIRE_FALSE(found.empty());
        return found.back();
    }
    [[nodiscard]] std::int64_t count_of(std::string_view channel) const { return last_of(channel).value.integer; }
    [[nodiscard]] bool has(std::string_view channel) const { return !samples_of(channel).empty(); }
    [[nodiscard]] const udp::UdpDriver& driver() const { return *driver_; }

    std::optional<DriverBench> bench;
    std::optional<UdpSender> sender;
    std::vector<TelemetrySample> all;

  private:
    void keep() { all.insert(all.end(), bench->samples().begin(), bench->samples().end()); }

    udp::UdpDriver* driver_ = nullptr;
};

}  // namespace telegate::test
