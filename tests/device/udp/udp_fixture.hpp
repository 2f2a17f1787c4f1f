#pragma once

#include "device/driver_bench.hpp"
#include "device/udp/udp_sender.hpp"
#include "support/eventually.hpp"
#include "udp/udp_driver.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telegate::test {

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
