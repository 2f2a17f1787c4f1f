#include "device/udp_driver.hpp"
#include "plan/drivers.hpp"
#include "plan/metric_rules_plan.hpp"

#include <utility>

namespace telegate {

std::unique_ptr<Driver> make_udp(const DeviceSettings& device, DeviceChannels /*channels*/) {
    const UdpSettings& from = device.udp;
    UdpDriverOptions options;
    options.host = from.listen_host;
    options.port = static_cast<std::uint16_t>(from.listen_port);
    options.format = from.format == "influx" ? DatagramFormat::influx
                     : from.format == "json" ? DatagramFormat::json
                                             : DatagramFormat::statsd;
    options.receive_buffer_bytes = static_cast<std::size_t>(from.receive_buffer_bytes);
    options.datagram_bytes_max = static_cast<std::size_t>(from.datagram_bytes_max);
    options.multicast_group = from.multicast_group;
    options.channels_max = static_cast<std::size_t>(from.channels_max);
    options.rules = to_metric_rules(from);
    return make_udp_driver(std::move(options));
}

}  // namespace telegate
