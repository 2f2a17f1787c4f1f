#pragma once

#include "device/driver.hpp"
#include "device/metric_rules.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace telegate {

/// The format of the datagrams.
enum class DatagramFormat : std::uint8_t { statsd, influx, json };

struct UdpDriverOptions {
    std::string host = "127.0.0.1";  // an IPv4 address, an IPv6 address with or without brackets, or localhost
    std::uint16_t port = 8'125;      // 0: any free port
    DatagramFormat format = DatagramFormat::statsd;
    std::size_t receive_buffer_bytes = 1'048'576;  // requested from the kernel
    std::size_t datagram_bytes_max = 8'192;        // longer datagrams are refused
    // a group address of the family of `host`, joined on that host address; "": none
    std::string multicast_group;
    std::size_t channels_max = 1'000;  // additional names are dropped and counted
    MetricRules rules;
};

/// Creates a driver that receives metrics as UDP datagrams: StatsD, Influx line protocol or JSON, with one or more
/// lines per datagram.
///
/// Threads: those of Driver; it has its own thread and streams.
/// Limits: channels_max names; datagram_bytes_max; 64 datagrams at a time and 1,024 per read().
/// Failure: std::invalid_argument for invalid options. An address that cannot be bound is a failed reading, repeated
/// after one second. Invalid lines, long datagrams and excess names are counted in channels. Datagrams that the kernel
/// dropped, or that are in the socket at a reset or at the end, count as lost at the source.
[[nodiscard]] std::unique_ptr<Driver> make_udp_driver(UdpDriverOptions options);

}  // namespace telegate
